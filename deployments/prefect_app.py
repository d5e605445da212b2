"""Every Prefect server that we start: `python -m deployments.prefect_app ADDRESS SCOPE`, for
tucano.security.guard.serve.

It is `prefect server start` on a socket that may be open already, behind the password PREFECT_SERVER_API_AUTH_STRING.
SCOPE is `all`, or `pages` (no scheduling: it shows what is there), or `run` (for one command, no pages; ends when its
standard input does, and not before: a shutdown's SIGTERM to all processes must leave its run somebody to report to).
"""

import contextlib
import os
import signal
import sys
import threading

from tucano.security.guard import Guard, serve

REMEMBER = "known => localStorage.setItem('prefect-password', btoa(known))"
"""Where Prefect's page keeps what somebody enters on its login page."""
OPEN = ("/api/health", "/api/ready")
CLOSED = ("/api/", "/docs/", "/redoc/", "/openapi.json/")


def is_open(path: str) -> bool:
    """The pages hold nothing; what they show comes from the API."""
    return path in OPEN or not f"{path}/".startswith(CLOSED)


def main() -> None:
    address, scope = sys.argv[1:]
    known = os.environ.get("PREFECT_SERVER_API_AUTH_STRING")
    if not known:
        sys.exit("tucano: no Prefect server without a password; set PREFECT_SERVER_API_AUTH_STRING")
    if scope == "run":
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # for every thread that is begun from here on
        threading.Thread(target=_end_with_parent, daemon=True).start()
    from prefect.server.api.server import create_app

    app = create_app(ephemeral=scope == "run", webserver_only=scope == "pages", final=True)
    with contextlib.suppress(KeyboardInterrupt):  # uvicorn's, once it has ended on SIGINT
        serve(Guard(app, known, is_open, REMEMBER, challenge=False), address)


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    main()
