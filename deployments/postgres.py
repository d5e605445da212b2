"""PostgreSQL from the system's binaries: a database cluster of our own that listens on a Unix socket only.

It never runs as root (it refuses to): where we are root, `postgres` or `nobody` owns its files. The socket lies in a
folder that only that user, and root, can enter, so there is no password and no open port.
"""

import hashlib
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from deployments.services import as_user
from tucano.errors import TucanoError, UserError

DATABASE_USER = "tucano"
PASSED_THROUGH = 0o710
"""Of a home: its user's alone, and the database's way to its own folder."""
UNPRIVILEGED = ("postgres", "nobody")


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where the binaries and the data are, and as whom it runs (None: as ourselves)."""

    binaries: Path
    data: Path
    user: str | None

    @property
    def sockets(self) -> Path:
        """Short, because the path of a socket may not be longer than some hundred characters."""
        name = hashlib.sha256(str(self.data).encode()).hexdigest()[:10]
        return Path(tempfile.gettempdir()) / f"tucano-{name}"

    @property
    def url(self) -> str:
        """What the Prefect server connects to."""
        return f"postgresql+asyncpg://{DATABASE_USER}@/postgres?host={quote(str(self.sockets), safe='/')}"

    @property
    def command(self) -> list[str]:
        options = ("listen_addresses=", f"unix_socket_directories={self.sockets}", "unix_socket_permissions=0700")
        given = [part for option in options for part in ("-c", option)]
        return [str(self.binaries / "postgres"), "-D", str(self.data), *given]

    @property
    def environment(self) -> dict[str, str]:
        """Of ours only what programs need anywhere: its user, where that is not us, could read our keys and
        passwords.
        """
        return {name: os.environ[name] for name in ("PATH", "LANG", "TZ", "LD_LIBRARY_PATH") if name in os.environ}

    def prepare(self) -> None:
        """Make socket folder and, the first time, the database files. UserError where the user cannot reach them."""
        self._own(self.sockets)
        self._require_reachable(self.sockets, "set TMPDIR to a folder that everybody may enter, such as /tmp")
        if (self.data / "PG_VERSION").is_file():
            return
        self._own(self.data)
        self._let_in(self.data.parent.parent)
        self._require_reachable(self.data, "use a folder that everybody may enter with --home FOLDER")
        options = ("-D", str(self.data), "-U", DATABASE_USER, "--auth=trust", "--encoding=UTF8", "--locale=C")
        made = self._call(str(self.binaries / "initdb"), *options)
        if made.returncode != 0:
            shutil.rmtree(self.data)
            raise TucanoError(f"PostgreSQL's initdb failed: {made.stderr.strip()}")

    def ready(self) -> bool:
        """Whether it accepts connections."""
        asked = ("-q", "-h", str(self.sockets), "-U", DATABASE_USER, "-d", "postgres")
        return subprocess.run([str(self.binaries / "pg_isready"), *asked], check=False).returncode == 0

    def _call(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command as the user of the cluster."""
        return subprocess.run(
            command, capture_output=True, text=True, cwd="/", check=False, env=self.environment, **as_user(self.user)
        )

    def _own(self, folder: Path) -> None:
        """A private folder of the user. One that somebody else has put in its place is refused."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        owner = pwd.getpwnam(self.user).pw_uid if self.user else os.geteuid()
        if folder.stat().st_uid not in (owner, os.geteuid()) or folder.is_symlink():
            raise UserError(f"{folder} belongs to another user; remove it, or use another folder with --home")
        if self.user:
            shutil.chown(folder, self.user, pwd.getpwnam(self.user).pw_gid)

    def _let_in(self, home: Path) -> None:
        """The user may pass through a home that is root's alone to its own folders, and see nothing else of it."""
        if self.user and home.stat().st_uid == os.geteuid() and home.stat().st_mode & 0o077 == 0:
            own = self.data.parent
            for other in home.iterdir():
                if other != own and not other.is_symlink():
                    other.chmod(stat.S_IMODE(other.stat().st_mode) & 0o700)
            for passed in (own, home):
                os.chown(passed, -1, pwd.getpwnam(self.user).pw_gid)
                passed.chmod(PASSED_THROUGH)

    def _require_reachable(self, folder: Path, mend: str) -> None:
        if self._call("test", "-w", str(folder)).returncode != 0:
            raise UserError(
                f"PostgreSQL does not run as root, and user {self.user} cannot enter {folder.parent}; {mend}, "
                "or run tucano up as an ordinary user"
            )


def find_cluster(data: Path) -> Cluster | None:
    """The cluster in `data` with the binaries that made it, or this system's newest; None where PostgreSQL is not
    installed.
    """
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    on_path = shutil.which("postgres")
    places = [*([Path(on_path).resolve().parent] if on_path else []), *installed]
    places = [place for place in places if (place / "initdb").is_file() and (place / "postgres").is_file()]
    made_by = (data / "PG_VERSION").read_text(encoding="utf-8").strip() if (data / "PG_VERSION").is_file() else None
    places = [place for place in places if made_by in (None, place.parent.name)]
    if not places:
        return None
    return Cluster(places[-1], data, _unprivileged() if os.geteuid() == 0 else None)


def _unprivileged() -> str:
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in UNPRIVILEGED if name in known)
