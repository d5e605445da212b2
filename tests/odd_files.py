"""What may stand in the place of a file that others can write: each is made by a function of its path."""

import os
import stat
from collections.abc import Callable
from pathlib import Path


def _link_to_a_pipe(path: Path) -> None:
    pipe = path.with_name(f"{path.name}-pipe")
    os.mkfifo(pipe)
    path.symlink_to(pipe)


ODD: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "socket": lambda path: os.mknod(path, stat.S_IFSOCK | 0o600),
    "folder": Path.mkdir,
    "dangling link": lambda path: path.symlink_to("nowhere"),
    "link to a pipe": _link_to_a_pipe,
}
if os.geteuid() == 0:
    ODD["device"] = lambda path: os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))  # zeros without end


def put_in_place(kind: str, path: Path) -> None:
    """In the place of a file that may be there."""
    path.unlink(missing_ok=True)
    ODD[kind](path)
