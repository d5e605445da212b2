"""Builds both images and runs what they are for, with Buildah, as root: `make images`.

    python -m benchmarks.images [--home FOLDER] [--only cpu] [--tests]

Builds deployments/Dockerfile.cpu and deployments/image/Dockerfile (targets `tucano` and `vllm`) on a base that is made
from Debian's packages, looks at size, user and files of each, runs `tucano doctor`, a pipeline in small and the entry
point of Vertex AI's jobs inside, starts the services of deployments/compose.yaml, and, asked so, `make test` in the CPU
image. What is built already is not built again; FOLDER keeps it, 25 GB.

pip in the build finds this machine's certificates (PIP_CERT) and wheels (PIP_FIND_LINKS); neither stays in an image.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.images import base, checks, compose
from benchmarks.images.buildah import ISOLATION, Buildah
from tucano.errors import UserError

ROOT = Path(__file__).parent.parent.parent
BASE = f"localhost/tucano-base:{base.SHA256[:12]}"
IMAGES = {
    "cpu": ("deployments/Dockerfile.cpu", ""),
    "tucano": ("deployments/image/Dockerfile", "tucano"),
    "vllm": ("deployments/image/Dockerfile", "vllm"),
}
"""{name: (Dockerfile, target)}"""
HOME = Path("/tmp/tucano-images")
CERTIFICATES = "certificates.crt"
NEEDED_BYTES = 40e9
"""Two gigabytes for the CPU, 6 and 8 for the CUDA interpreters, and once more for what is being written."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, default=HOME, help="where images and the base are kept (%(default)s)")
    parser.add_argument("--only", choices=IMAGES, action="append", help="one image; can be given several times")
    parser.add_argument("--tests", action="store_true", help="`make test` in the CPU image as well: 20 minutes")
    arguments = parser.parse_args()
    try:
        return run(arguments.home.resolve(), arguments.only or list(IMAGES), arguments.tests)
    except UserError as error:
        print(f"tucano: {error}", file=sys.stderr)
        return 2


def run(home: Path, names: list[str], tests: bool) -> int:
    require_tools(home)
    engine = Buildah(home)
    failed = [name for name, step in steps(engine, names, tests).items() if not done(name, step)]
    for image in filter(engine.has, map(tag, names)):
        print(f"{image}  {engine.gigabytes(image):.2f} GB, user {engine.config(image)['User']}")
    print(f"{', '.join(failed)} failed" if failed else "All is well")
    return 1 if failed else 0


def steps(engine: Buildah, names: list[str], tests: bool) -> dict[str, Callable[[], object]]:
    """{what it is: what does it and raises when it is not well}, in this order."""
    pip = settings_of_pip(engine.home / "pip")
    found: dict[str, Callable[[], object]] = {"base": lambda: make_base(engine)}
    for name in names:
        image = tag(name)
        found[f"{name}: build"] = partial(build, engine, name, pip)
        found[f"{name}: files"] = partial(checks.look, engine, image)
    if "cpu" in names:
        found["cpu: doctor"] = lambda: checks.doctor(engine, tag("cpu"))
        found["cpu: pipeline"] = lambda: checks.pipeline(engine, tag("cpu"))
        found["cpu: services"] = lambda: compose.apart(engine, tag("cpu"), BASE)
    if "tucano" in names:
        found["tucano: doctor"] = lambda: checks.doctor(engine, tag("tucano"))
        found["tucano: pipeline"] = lambda: checks.pipeline(engine, tag("tucano"))
        found["tucano: a job of Vertex AI"] = lambda: checks.vertex(engine, tag("tucano"), ROOT, pip)
    if "vllm" in names:
        found["vllm: imports"] = lambda: checks.imports(engine, tag("vllm"))
    if tests:
        found["cpu: make test"] = lambda: checks.make_test(engine, tag("cpu"), ROOT, pip)
    return found


def done(name: str, step: Callable[[], object]) -> bool:
    """Whether a step ended well, said with its time."""
    print(f"--- {name}", flush=True)
    began = time.monotonic()
    try:
        step()
    except (subprocess.CalledProcessError, checks.Unwell) as error:
        print(f"--- {name}: FAILED after {time.monotonic() - began:.0f} s: {error}", flush=True)
        return False
    print(f"--- {name}: {time.monotonic() - began:.0f} s", flush=True)
    return True


def tag(name: str) -> str:
    return f"localhost/tucano-commerce:{name}"


def require_tools(home: Path) -> None:
    """UserError that names what is missing here."""
    missing = [tool for tool in ("buildah", "mmdebstrap", "ip", "unshare") if not shutil.which(tool)]
    if missing:
        raise UserError(
            f"{', '.join(missing)} not found: apt-get install buildah mmdebstrap iproute2 util-linux on Debian or"
            " Ubuntu; with Docker, `docker build` as docs/vertex.md says needs none of them"
        )
    if os.geteuid():
        raise UserError("building needs root, which alone may enter another root folder: run the command with sudo")
    home.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(home).free
    if free < NEEDED_BYTES and not (home / "root").exists():
        raise UserError(f"{home} has {free / 1e9:.0f} GB free, and {NEEDED_BYTES / 1e9:.0f} are needed; name another")


def make_base(engine: Buildah) -> None:
    if not engine.has(BASE):
        engine.imported(base.made(engine.home), BASE)


def build(engine: Buildah, name: str, pip: Path) -> None:
    """Shows what the builder prints; a layer that was made already is taken as it is."""
    dockerfile, target = IMAGES[name]
    wheels = Path(os.environ.get("PIP_FIND_LINKS", ""))
    found = ["--build-arg", "TORCH=/srv", "--volume", f"{wheels}:/srv:ro"] if wheels.is_absolute() else []
    command = engine.command(
        *("build", ISOLATION, "--layers", "--pull-never", "--tag", tag(name), "--file", str(ROOT / dockerfile)),
        *(["--target", target] if target else []),
        *("--build-arg", f"BASE={BASE}", "--volume", f"{pip}:/mnt:ro"),
        *(["--build-arg", f"SSL_CERT_FILE=/mnt/{CERTIFICATES}"] if (pip / CERTIFICATES).exists() else []),
        *(found if name == "cpu" else []),
        str(ROOT),
    )
    subprocess.run(command, env=engine.environment(), check=True)


def settings_of_pip(folder: Path) -> Path:
    """A folder with a pip.conf for the build, and the certificates that this machine's pip is told to trust."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["[global]", "timeout = 180", "disable-pip-version-check = true", "progress-bar = off"]
    if certificates := os.environ.get("PIP_CERT"):
        shutil.copyfile(certificates, folder / CERTIFICATES)
        lines.append(f"cert = /mnt/{CERTIFICATES}")
    (folder / "pip.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


if __name__ == "__main__":
    sys.exit(main())
