"""What is looked at in a built image, and what is run inside it."""

import json
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.bad_days import TINY
from benchmarks.images.buildah import Buildah
from benchmarks.operations import as_options
from tucano.errors import TucanoError

USER, UID = "tucano", 1000
OF_THE_USER = ("/home/tucano", "/runs", "/app/runs", "/project/runs")
"""Folders whose files belong to the image's user."""
SOURCES = "/src"
REFUSED_REHEARSAL = (
    "python -m tucano.cli rehearse laptop --set storage=/tmp/runs --set model.name=./nowhere; test $? = 2"
    " && grep 'the rehearsal itself: ./nowhere' /tmp/runs-rehearsal-laptop/rehearsal.txt"
)
"""A rehearsal that cannot begin says so in its file."""

FILES = """
import json, os, stat, subprocess
found = {"privileged": [], "writable": [], "of the user": [], "caches": [], "secrets": []}
for folder, folders, files in os.walk("/"):
    if folder == "/":
        folders[:] = [name for name in folders if name not in ("proc", "sys", "dev", "mnt", "srv")]
    for name in folders + files:
        path = os.path.join(folder, name)
        about = os.lstat(path)
        if stat.S_ISLNK(about.st_mode):
            continue
        if stat.S_ISREG(about.st_mode) and about.st_mode & (stat.S_ISUID | stat.S_ISGID):
            found["privileged"].append(path)
        if about.st_mode & stat.S_IWOTH and not about.st_mode & stat.S_ISVTX:
            found["writable"].append(path)
        if about.st_uid == 1000:
            found["of the user"].append(path)
        if path.endswith(("/.cache", "/var/lib/apt/lists/lock")) or path.endswith(".deb"):
            found["caches"].append(path)
        if name in (".env", ".git", ".netrc", ".pypirc", ".ssh", "id_rsa", "id_ed25519"):
            found["secrets"].append(path)
        ours = path.startswith(("/app", "/project", "/etc", "/root", "/home"))
        if ours and stat.S_ISREG(about.st_mode) and about.st_size < 1e6:
            with open(path, "rb") as file:
                if b"PRIVATE KEY-----" in file.read():
                    found["secrets"].append(path)
def of_debian(path):  # packages that know nothing of the merged /usr name the file without it
    names = [path, path.removeprefix("/usr")]
    return any(subprocess.run(["dpkg", "-S", name], capture_output=True).returncode == 0 for name in names)
foreign = [path for path in found["privileged"] if not of_debian(path)]
print(json.dumps(found | {"privileged": foreign}))
"""
"""Run as root in the image: what should not be there. A privileged file of one of Debian's packages may."""


class Unwell(TucanoError):
    """An image is not as it must be; the message says what was found."""


def look(engine: Buildah, image: str) -> None:
    """Size, user and files; Unwell when there is something that does not belong into an image."""
    config = engine.config(image)
    if config.get("User") != USER:
        raise Unwell(f"{image} runs as {config.get('User') or 'root'} and not as {USER}")
    named = [
        pair for pair in config["Env"] if any(word in pair.upper() for word in ("PASSW", "SECRET", "TOKEN", "KEY"))
    ]
    with engine.container(image) as container:
        command = engine.inside(container, ["/usr/bin/python3", "-c", FILES], user="root")
        output = subprocess.run(command, env=engine.environment(), check=True, stdout=subprocess.PIPE, text=True).stdout
    found = {kind: list(paths) for kind, paths in json.loads(output).items()}
    found["of the user"] = [path for path in found["of the user"] if not path.startswith(OF_THE_USER)]
    wrong = {kind: paths[:5] for kind, paths in {**found, "environment": named}.items() if paths}
    if wrong:
        raise Unwell(f"{image} holds what it should not: {wrong}")
    print(
        f"{image}: {engine.gigabytes(image):.2f} GB, user {USER}; no privileged files but Debian's, none that everybody"
    )
    print("may write, none of the user outside of its folders, no caches, no secrets")


def run_inside(
    engine: Buildah,
    image: str,
    *commands: Sequence[str],
    environment: Mapping[str, str] | None = None,
    mounted: Mapping[Path, str] | None = None,
) -> None:
    """One after another in one container, as the image's user; raises CalledProcessError at the first that fails."""
    with engine.container(image) as container:
        for command in commands:
            whole = engine.inside(container, command, environment=environment, mounted=mounted)
            subprocess.run(whole, env=engine.environment(), check=True)


def doctor(engine: Buildah, image: str) -> None:
    run_inside(engine, image, ["id"], ["python", "-m", "pip", "check"], ["python", "-m", "tucano.cli", "doctor"])
    run_inside(engine, image, ["sh", "-c", REFUSED_REHEARSAL])


def pipeline(engine: Buildah, image: str) -> None:
    """`tucano run laptop` in small: every stage, two seeds, a promotion, the lineage of the champion."""
    run = ["python", "-m", "tucano.cli", "run", "nano", *as_options(TINY | {"storage": "/tmp/runs"})]
    lineage = ["python", "-m", "tucano.cli", "lineage", "tucano@champion", "--set", "storage=/tmp/runs"]
    run_inside(engine, image, run, lineage)


def imports(engine: Buildah, image: str) -> None:
    """The second interpreter: consistent, and what a training child and the server of vLLM import is there."""
    python = "/opt/vllm/bin/python"
    program = (
        "import tucano.training.worker, vllm.entrypoints.openai.api_server, peft, trl, torch; print(torch.__version__)"
    )
    run_inside(engine, image, [python, "-m", "pip", "check"], [python, "-c", program])


def vertex(engine: Buildah, image: str, root: Path, pip: Path) -> None:
    """A seed on Vertex AI with the interpreter and the code of the image: Google is the stand-in of the tests, which
    starts the image's own first process as its container and takes the machine away.
    """
    wanted = ["python", "-m", "pip", "install", "--quiet", "--target", "/opt/pytest", "-c", "/app/constraints.txt"]
    mounted = {root / "tests": "/app/tests:ro", root / "pyproject.toml": "/app/pyproject.toml:ro", pip: "/mnt:ro"}
    installed = {"PIP_CONFIG_FILE": "/mnt/pip.conf"}
    tested = {"PYTHONPATH": "/app:/opt/pytest"}
    refused = (
        "TUCANO_SECRETS=PASSWORD=projects/p/secrets/s/versions/latest python -m deployments.vertex.start; test $? = 2"
    )
    test = ["python", "-m", "pytest", "-m", "services", "-p", "no:cacheprovider", "tests/test_vertex.py"]
    with engine.container(image) as container:
        for command, user, environment in (
            (["sh", "-c", refused], "", {"GCE_METADATA_HOST": "127.0.0.1:1", "NO_GCE_CHECK": "true"}),
            ([*wanted, "pytest", "pytest-timeout", "hypothesis"], "root", installed),
            (test, "", tested),
        ):
            whole = engine.inside(container, command, user=user, environment=environment, mounted=mounted)
            subprocess.run(whole, env=engine.environment(), check=True)


def make_test(engine: Buildah, image: str, root: Path, pip: Path) -> None:
    """`make test` with the interpreter of the image, as its user, on a copy of the work tree."""
    mounted, settings = {pip: "/mnt:ro"}, {"PIP_CONFIG_FILE": "/mnt/pip.conf", "PYTHONPATH": SOURCES}
    develop = f"/opt/tucano/bin/pip install --quiet -c constraints.txt -e '.[dev]' && chown -R {UID} . /opt/tucano"
    as_root = (
        "apt-get -qq update && apt-get -qq install --no-install-recommends make > /dev/null",
        f"cd {SOURCES} && {develop} && touch /opt/tucano/.stamp",
    )
    with engine.container(image) as container:
        engine.said("add", "--quiet", "--chown", f"{UID}:{UID}", container, str(packed(engine.home, root)), SOURCES)
        for script, user in (
            *((script, "root") for script in as_root),
            (f"cd {SOURCES} && make VENV=/opt/tucano test", ""),
        ):
            command = engine.inside(container, ["sh", "-c", script], user=user, environment=settings, mounted=mounted)
            subprocess.run(command, env=engine.environment(), check=True)


def packed(folder: Path, root: Path) -> Path:
    """A tarball of what git knows or would add."""
    listed = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, check=True, stdout=subprocess.PIPE, text=True).stdout.split("\0")
    tarball = folder / "sources.tar"
    with tarfile.open(tarball, "w") as tar:
        for name in names:
            if name and (root / name).exists():
                tar.add(root / name, name)
    return tarball
