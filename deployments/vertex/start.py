"""First process of the container: `python -m deployments.vertex.start`.

Ends where the machine shows a GPU that cannot be used, fetches the secrets that TUCANO_SECRETS names, executes the flow
run, and passes on the notice that the machine is about to be taken away, which comes as SIGTERM or through the metadata
server. Then the training child saves its last finished step and the container fails without a word to Prefect
(`relinquish`). It is the worker that reports the crash, once the job has ended, just as it does for a machine that
vanished; were the run scheduled again from here, its next job would be submitted while this one is still ending.
"""

import base64
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from deployments.vertex.google import Google
from tucano.errors import UserError

METADATA = "GCE_METADATA_HOST"
"""Address of the metadata server, for google-auth as well; metadata.google.internal when unset."""
ON_SIGTERM = "PREFECT_FLOW_RUN_EXECUTE_SIGTERM_BEHAVIOR"
HELD_SECONDS = 60
"""The metadata server answers when the value changes, at the latest after this time."""
PAUSE_SECONDS = 5.0
SECRET_PAUSES = (2.0, 5.0, 15.0)
"""Seconds before Secret Manager is asked again."""
DRIVER = "libcuda.so.1"


def main() -> int:
    try:
        require_usable_gpu(Path("/dev"))
        os.environ.update(fetched(os.environ.pop("TUCANO_SECRETS", "")))
    except UserError as error:
        print(f"tucano: {error}", file=sys.stderr)
        return 2
    os.environ[ON_SIGTERM] = "relinquish"
    os.environ["TUCANO_MACHINE_BEGAN"] = datetime.now(UTC).isoformat()
    run = subprocess.Popen([sys.executable, "-m", "prefect", "flow-run", "execute"])
    signal.signal(signal.SIGTERM, lambda *_: run.terminate())
    threading.Thread(target=on_preemption, args=(run.terminate,), daemon=True).start()
    code = run.wait()
    return code if code >= 0 else 128 - code


def require_usable_gpu(devices: Path) -> None:
    """UserError where the machine shows a GPU and its driver is not found or refuses it. A job without one is judged by
    what its run asks for (tucano/requirements/machine.py).
    """
    if not any(devices.glob("nvidia[0-9]*")):
        return
    try:
        code = ctypes.CDLL(DRIVER).cuInit(0)
    except OSError:
        raise UserError(
            f"this machine has a GPU, and its driver ({DRIVER}) is in no folder of LD_LIBRARY_PATH="
            f"{os.environ.get('LD_LIBRARY_PATH', '')}; use the image of deployments/image/Dockerfile as it is"
        ) from None
    if code != 0:
        raise UserError(
            f"this machine has a GPU that its driver cannot use (CUDA error {code}); ask for a machine with an NVIDIA"
            " driver of at least 580"
        )


def fetched(named: str) -> dict[str, str]:
    """The values of secrets written as `VARIABLE=projects/P/secrets/S/versions/latest,...`; UserError names one that
    cannot be read.
    """
    versions = {
        variable: version for variable, _, version in (part.partition("=") for part in named.split(",") if part)
    }
    if not versions:
        return {}
    from google.auth.exceptions import GoogleAuthError

    try:
        google = Google()
        return {variable: _secret(google, variable, version) for variable, version in versions.items()}
    except GoogleAuthError as error:
        raise UserError(
            f"the secrets {', '.join(versions)} cannot be read: Google knows no account of"
            f" this machine ({' '.join(str(error).split())}); give the job a service account"
        ) from None


def _secret(google: Google, variable: str, version: str) -> str:
    """Asked for again after a while where Secret Manager does not answer."""
    what = f"secret {version} for {variable}"
    answer = google.get("secretmanager", f"v1/{version}:access")
    for pause in SECRET_PAUSES:
        if answer.is_transient:
            time.sleep(pause)
            answer = google.get("secretmanager", f"v1/{version}:access")
    if answer.is_transient:
        raise UserError(
            f"{what} cannot be read: Secret Manager did not answer, asked {len(SECRET_PAUSES) + 1} times"
            f" ({answer.reason}); start the run again once it does"
        )
    if not answer.ok:
        raise UserError(f"{what} cannot be read ({answer.reason}); grant its accessor role to this job's account")
    try:
        return base64.b64decode(answer.content["payload"]["data"]).decode()
    except (KeyError, TypeError, ValueError):
        raise UserError(f"{what} holds no text; add a version with one: gcloud secrets versions add") from None


def on_preemption(act: Callable[[], None]) -> None:
    """Wait until the metadata server says that this machine is being taken away, then act, once."""
    host = os.environ.get(METADATA, "metadata.google.internal")
    address = f"http://{host}/computeMetadata/v1/instance/preempted?wait_for_change=true&timeout_sec={HELD_SECONDS}&last_etag="
    etag = "0"  # no value has it: the first answer comes at once
    while True:
        request = urllib.request.Request(address + etag, headers={"Metadata-Flavor": "Google"})
        try:
            with urllib.request.urlopen(request, timeout=HELD_SECONDS + 10) as answer:
                etag = answer.headers.get("ETag", "0")
                if answer.read().strip() == b"TRUE":
                    said = "tucano: this machine is being taken away; the training saves its state"
                    print(said, file=sys.stderr, flush=True)
                    act()
                    return
        except OSError:
            time.sleep(PAUSE_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
