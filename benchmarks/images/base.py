"""The base of our images where no registry of images is at hand: Debian 12.15, made from its packages.

12.15 is bookworm's last point release: its main archive does not change any more, so the same bytes come out on every
machine and on every day. Docker takes Debian's own image of 2026-09-18 instead, which the Dockerfiles name by digest.
"""

import hashlib
import os
import subprocess
from pathlib import Path

from tucano.errors import UserError

RELEASE = "12.15"
DATE_S = 1783764997
"""2026-07-11 10:16:37 UTC, the date of the release; every file gets it that would get the time of the build."""
SHA256 = "cf907602707552ee56cf5935efb76c6f09bd3bcbe79faba758d3ee240ebfc8ac"
SOURCE = "deb http://deb.debian.org/debian bookworm main"


def made(folder: Path) -> Path:
    """The tarball in `folder`, made unless it is there already; UserError when its checksum is another one."""
    tarball = folder / f"debian-{RELEASE}.tar"
    if not tarball.exists():
        draft = tarball.with_suffix(".draft")
        subprocess.run(
            ["mmdebstrap", "--variant=minbase", "--format=tar", "--quiet", "bookworm", str(draft), SOURCE],
            env={**os.environ, "SOURCE_DATE_EPOCH": str(DATE_S)},
            check=True,
        )
        draft.rename(tarball)
    with tarball.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != SHA256:
        raise UserError(
            f"{tarball} has the checksum {found} and not {SHA256}: its packages are not those of Debian {RELEASE} alone"
            " (another archive in apt's settings, a newer mmdebstrap?); delete it to have it made again"
        )
    return tarball
