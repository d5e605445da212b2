"""Runs a command that must not outlive whoever asked for it: `python guardian.py FOLDER COMMAND...`.

The command and all its children are one process group. It is ended when this process' standard input ends, which
happens however the asking process ends, by kill -9 too; its folder is removed then. Standard library only, so that it
is there at once.
"""

import os
import shutil
import signal
import subprocess
import sys
import threading

GRACE_SECONDS = 5


def main(folder: str, command: list[str]) -> int:
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)

    def end_with_the_asker() -> None:
        sys.stdin.buffer.read()
        end(child)

    threading.Thread(target=end_with_the_asker, daemon=True).start()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: end(child))
    code = child.wait()
    end(child)  # its own children may be left
    shutil.rmtree(folder, ignore_errors=True)
    return code if code >= 0 else 128 - code


def end(child: "subprocess.Popen[bytes]") -> None:
    """End the whole group in order, then by force."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, number)
        except ProcessLookupError:
            return
        try:
            child.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            continue


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
