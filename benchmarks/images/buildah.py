"""Buildah, with its storage in a folder of ours: builds Dockerfiles and runs what is in images, without a daemon."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ISOLATION = "--isolation=chroot"
"""The way that needs no limits and cgroups of its own, which not every machine lets be set."""
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, slots=True)
class Buildah:
    """Images and containers in `home`."""

    home: Path

    def command(self, *arguments: str) -> list[str]:
        return ["buildah", "--root", str(self.home / "root"), "--runroot", str(self.home / "run"), *arguments]

    def environment(self) -> dict[str, str]:
        """Buildah's large temporary files belong beside its storage."""
        (self.home / "temporary").mkdir(parents=True, exist_ok=True)
        return {**os.environ, "TMPDIR": str(self.home / "temporary")}

    def said(self, *arguments: str) -> str:
        """What a quick command prints; raises CalledProcessError with its words."""
        return subprocess.run(
            self.command(*arguments), env=self.environment(), check=True, stdout=subprocess.PIPE, text=True
        ).stdout.strip()

    def has(self, image: str) -> bool:
        return image in self.said("images", "--format", "{{.Name}}:{{.Tag}}").splitlines()

    def imported(self, tarball: Path, image: str) -> None:
        """An image with the files of a tarball, and the search path that Debian's own image sets."""
        with self.container("scratch") as container:
            self.said("add", "--quiet", container, str(tarball), "/")
            self.said("config", "--env", f"PATH={PATH}", container)
            self.said("commit", "--quiet", container, image)

    @contextmanager
    def container(self, image: str, hosts: Sequence[str] = ()) -> Iterator[str]:
        """A container of its own, gone afterwards. `hosts`: names that mean this machine in it."""
        known = [part for host in hosts for part in ("--add-host", f"{host}:127.0.0.1")]
        name = self.said("from", "--pull-never", *known, image)
        try:
            yield name
        finally:
            self.said("rm", name)

    def inside(
        self,
        container: str,
        command: Sequence[str],
        *,
        user: str = "",
        environment: Mapping[str, str] | None = None,
        mounted: Mapping[Path, str] | None = None,
    ) -> list[str]:
        """The command that runs `command` in a container, as its image's user unless another one is named.
        `mounted`: {folder here: folder there}.
        """
        options = ["--user", user] if user else []
        options += [part for name, value in (environment or {}).items() for part in ("--env", f"{name}={value}")]
        options += [part for here, there in (mounted or {}).items() for part in ("--volume", f"{here}:{there}")]
        return self.command("run", ISOLATION, *options, container, "--", *command)

    def config(self, image: str) -> dict[str, Any]:
        """User, environment and command that an image is started with."""
        about: dict[str, Any] = json.loads(self.said("inspect", "--type", "image", image))
        config: dict[str, Any] = about["OCIv1"]["config"]
        return config

    def gigabytes(self, image: str) -> float:
        """Of its files, the base's included, as they lie on a disk."""
        about = json.loads(self.said("images", "--json", image))
        size = str(about[0]["size"]).split()
        return float(size[0]) * {"KB": 1e-6, "MB": 1e-3, "GB": 1.0}[size[1]]
