"""The password of a home: every server over it asks for it, every program that we start over it knows it.

It lies in one file that only its owner may read, outside the home (`$XDG_STATE_HOME/tucano`, by default
`~/.local/state/tucano`): a storage is copied, shared and uploaded, a password is not. Programs get it through their
environment, people through a link that logs in once. It is never an argument, in an address, in a log or in the
storage.
"""

import base64
import hashlib
import hmac
import os
import re
import secrets
import shlex
import stat
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from tucano.errors import UserError

USER = "tucano"
CREDENTIALS = re.compile(rf"{USER}:[\w-]{{43}}")
TOKEN = re.compile(r"[\w-]{43}")
TOKEN_VARIABLE = "TUCANO_SERVE_TOKEN"
"""Where a container's secret is the token, which has no file that outlives it."""
GIVEN_TOKEN = re.compile(r"[A-Za-z0-9_-]{32,256}")
LINK_PATH = "/enter"
LINK_SECONDS = 3600


def credentials_file(home: Path) -> Path:
    """Where the password of a home lies. UserError where that would be inside the home itself, or nowhere."""
    home = home.resolve()
    try:
        state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state").resolve() / "tucano"
    except RuntimeError:
        raise UserError(
            "this account has no home, as in some containers, where passwords could lie; set XDG_STATE_HOME to a folder"
            " of yours, like XDG_STATE_HOME=$PWD/state tucano …"
        ) from None
    if state.is_relative_to(home):
        raise UserError(
            f"{home} holds {state}, where passwords lie; use a folder of its own for what runs write, like"
            f" {home / 'runs'}"
        )
    return state / f"{home.name}-{hashlib.sha256(str(home).encode()).hexdigest()[:12]}.password"


def credentials(home: Path) -> str:
    """`tucano:PASSWORD` of a home, made when first asked for. UserError where the file cannot be made, read or
    trusted.
    """
    return _kept(home, credentials_file(home), fresh(), CREDENTIALS)


def token_file(home: Path) -> Path:
    """Where the token lies that clients of `tucano serve` over a home give: it opens nothing else."""
    return credentials_file(home).with_suffix(".token")


@dataclass(frozen=True)
class Token:
    """What clients of `tucano serve` give. shell: how the shell of whoever started it writes it."""

    text: str = field(repr=False)
    shell: str


def token(home: Path) -> Token:
    """The token of a home's `tucano serve`: the environment's, which no child process sees from then on, or the one in
    its file, made when first asked for. UserError as for `credentials`, and for one that can be guessed.
    """
    given = os.environ.pop(TOKEN_VARIABLE, None)
    if given is None:
        file = token_file(home)
        return Token(_kept(home, file, secrets.token_urlsafe(32), TOKEN), f"$(cat {shlex.quote(str(file))})")
    if not GIVEN_TOKEN.fullmatch(given):
        raise UserError(
            f"{TOKEN_VARIABLE} has {len(given)} characters, and takes 32 to 256 letters, digits, _ and -; make one like"
            f' {TOKEN_VARIABLE}="$(openssl rand -hex 24)"'
        )
    return Token(given, f"${TOKEN_VARIABLE}")


def _kept(home: Path, file: Path, new: str, form: re.Pattern[str]) -> str:
    try:
        if not file.exists():
            _make(file, new)
        return _read(file, form)
    except OSError as error:
        raise UserError(
            f"the password of {home} cannot be kept in {file} ({error.strerror}); set XDG_STATE_HOME to a folder of"
            " yours, like XDG_STATE_HOME=$PWD/state tucano …"
        ) from None


def fresh() -> str:
    """Credentials that nobody has yet."""
    return f"{USER}:{secrets.token_urlsafe(32)}"


def basic(known: str) -> str:
    """The Authorization header of credentials."""
    return f"Basic {base64.b64encode(known.encode()).decode()}"


def tracking_environment(known: str) -> dict[str, str]:
    """What an MLflow client has to find in its environment."""
    user, _, password = known.partition(":")
    return {"MLFLOW_TRACKING_USERNAME": user, "MLFLOW_TRACKING_PASSWORD": password}


def withhold_from(uri: str) -> None:
    """Forget the MLflow credentials in the environment where they belong to another server: MLFLOW_TRACKING_URI."""
    named = os.environ.get("MLFLOW_TRACKING_URI")
    if named and urlsplit(named).netloc != urlsplit(uri).netloc:
        for name in ("MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN"):
            os.environ.pop(name, None)


def login_link(page: str, known: str) -> str:
    """An address below `page` (like http://127.0.0.1:4200) that logs in whoever opens it first, within LINK_SECONDS.

    What lets them in stands behind the #, which no browser sends and no server logs, and is worth nothing afterwards.
    """
    token = f"{int(time.time()) + LINK_SECONDS}.{secrets.token_urlsafe(12)}"
    return f"{page}{LINK_PATH}#{token}.{_signature(token, urlsplit(page).port, known)}"


def is_link_token(token: str, port: int, known: str, since: float = 0.0) -> bool:
    """Whether a link to the server on this port, made after the time `since` and not too old, ends in `token`."""
    signed, _, signature = token.rpartition(".")
    if not hmac.compare_digest(signature.encode(), _signature(signed, port, known).encode()):
        return False
    ends = int(signed.partition(".")[0])
    return ends > time.time() and ends - LINK_SECONDS >= int(since)


def _signature(token: str, port: int | None, known: str) -> str:
    return hmac.new(known.encode(), f"login {port} {token}".encode(), hashlib.sha256).hexdigest()


def _make(file: Path, content: str) -> None:
    """It appears whole; of two processes that make it at once the first one wins."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, draft = tempfile.mkstemp(dir=file.parent)  # only its owner may read it
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            opened.write(f"{content}\n")
            opened.flush()
            os.fsync(opened.fileno())
        with suppress(FileExistsError):
            os.link(draft, file)
    finally:
        Path(draft).unlink()


def _read(file: Path, form: re.Pattern[str]) -> str:
    with os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW), encoding="utf-8") as opened:
        found = os.fstat(opened.fileno())
        known = opened.read().strip()
    again = "remove it, then stop and start what runs: a new password is made"
    if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise UserError(f"others than you may have read or written {file}; {again}")
    if not form.fullmatch(known):
        raise UserError(f"{file} is empty or damaged; {again}")
    return known
