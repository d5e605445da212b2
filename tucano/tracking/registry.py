"""The model registry: models with their lineage, moved into place in one transaction that rolls back."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

from tucano.errors import UserError
from tucano.security.printable import short
from tucano.tracking import models
from tucano.tracking.store import recording, texts, translated

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities.model_registry import ModelVersion, PromptVersion

CHAMPION, CHALLENGER, PREVIOUS = "champion", "challenger", "previous"
ROLES = (CHAMPION, CHALLENGER, PREVIOUS)
"""Aliases that exclude each other: a version has one of them. `previous` is the champion before this one."""
MOST_VERSIONS = 1000
"""Of a system prompt, among which its text is looked for."""
MEND = "bring them back, or point the alias at another version"


@dataclass(frozen=True, slots=True)
class RegisteredModel:
    """A version in the registry: `tags` hold its lineage, licence and overrides, `source` is where its files are."""

    model: str
    version: int
    run_id: str
    source: str
    tags: dict[str, str]

    def __str__(self) -> str:
        return f"{self.model} version {self.version}"

    @property
    def name(self) -> str:
        """As routes and answers have it: `tucano/3`."""
        return f"{self.model}/{self.version}"


@dataclass(frozen=True)
class Registry:
    """The registry of an open tracking store."""

    uri: str
    client: MlflowClient

    @translated
    def find_version(self, reference: str) -> RegisteredModel | None:
        """The version that `tucano@champion` or `tucano/3` names; None where there is none."""
        model, at, alias = reference.partition("@")
        if at:
            version = _aliases(self.client, model).get(alias)
            return None if version is None else _record(self.client.get_model_version(model, version))
        model, _, version = reference.partition("/")
        found = self.client.search_model_versions(f"name = '{model}'")
        return next((_record(one) for one in found if str(one.version) == version), None)

    def champion(self, model: str) -> RegisteredModel | None:
        """The version that carries the alias `champion`; None where there is none."""
        return self.find_version(f"{model}@{CHAMPION}")

    @translated
    def register(
        self,
        model: str,
        run_id: str,
        folder: Path,
        tags: Mapping[str, object],
        aliases: Sequence[str],
        description: str = "",
    ) -> RegisteredModel:
        """Make `folder` a LoggedModel of the run and a version of `model`, with its lineage in `tags`, and give it
        `aliases` as `crown` does.

        On any error, an interruption too, the aliases point where they did, and the new version and its LoggedModel are
        gone. A process that was killed on the way could not tidy up: the version that it left behind, known by its
        lineage, is taken up, and a LoggedModel that it left without a version is deleted. The tag `digest.files` seals
        the files.
        """
        _ensure_model(self.client, model)
        with ExitStack() as undo:
            version = _left_behind(self.client, model, texts(tags))
            if version is None:
                version = _create(self.client, model, run_id, folder, texts(tags), description, undo)
            for alias in aliases:
                _give(self.client, model, str(version.version), alias, undo)
            undo.pop_all()
        return _record(version)

    @translated
    def crown(self, model: str, version: int, tags: Mapping[str, object]) -> None:
        """Make a version the champion: all of it, or nothing. It gives up its other role, and the champion before it
        becomes `previous`; `tags` say who wanted it and why.
        """
        for key, value in texts(tags).items():
            self.client.set_model_version_tag(model, str(version), key, value)
        with ExitStack() as undo:
            _give(self.client, model, str(version), CHAMPION, undo)
            undo.pop_all()

    @recording
    def register_prompts(self, model: str, version: int, systems: Mapping[str, str]) -> None:
        """Register `systems` ({task: system prompt}) of a model's version as `MODEL.TASK` in MLflow's prompt registry,
        each text once. Tags lead from either to the other: `prompt.TASK` of the model's version, `model.NUMBER` of the
        prompt's. MLflow keeps prompts and models by one name, and `promotion.model` has no dot.
        """
        for task, text in systems.items():
            prompt = _with_text(self.client, f"{model}.{task}", text)
            self.client.set_prompt_version_tag(prompt.name, prompt.version, f"model.{version}", f"{model}/{version}")
            self.client.set_model_version_tag(model, str(version), f"prompt.{task}", f"{prompt.name}/{prompt.version}")

    @translated
    def fetch(self, version: RegisteredModel, folder: Path) -> Path:
        """Copy a version's files below `folder`, which is emptied first, and return where they are.

        Raises UserError where they are not the files that were registered. That finds files that were changed or added
        where MLflow keeps them; whoever can write the registry itself can also write the digest that they are held
        against.
        """
        from mlflow.artifacts import download_artifacts
        from mlflow.exceptions import MlflowException

        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        place = self.client.get_model_version_download_uri(version.model, str(version.version))
        address = urlsplit(place)
        if address.scheme == "file" and not Path(url2pathname(address.path)).is_dir():
            raise UserError(f"{version} is not what was registered: its files at {place} are gone; {MEND}")
        try:
            fetched = Path(download_artifacts(artifact_uri=place, dst_path=str(folder), tracking_uri=self.uri))
        except (MlflowException, OSError) as error:
            raise UserError(
                f"{version} cannot be fetched: its files at {short(place)} cannot be had ({short(str(error))}); {MEND}"
            ) from None
        if digest(fetched) != version.tags.get("digest.files"):
            raise UserError(f"{version} is not what was registered: its files at {place} have changed since; {MEND}")
        return fetched


def _give(client: MlflowClient, model: str, version: str, alias: str, undo: ExitStack) -> None:
    before = _aliases(client, model)
    for name, target in _moves(before, version, alias).items():
        undo.callback(_point, client, model, name, before.get(name))
        _point(client, model, name, target)


def _moves(before: Mapping[str, str], version: str, alias: str) -> dict[str, str | None]:
    """{alias: what it points to (None: nothing)} in the order in which a kill between two of them loses nothing."""
    moves: dict[str, str | None] = {}
    if alias == CHAMPION and before.get(CHAMPION, version) != version:
        moves[PREVIOUS] = before[CHAMPION]
    moves[alias] = version
    given_up: dict[str, str | None] = {
        name: None for name in ROLES if before.get(name) == version and name not in moves
    }
    return moves | given_up if alias in ROLES else moves


def _create(
    client: MlflowClient,
    model: str,
    run_id: str,
    folder: Path,
    tags: Mapping[str, str],
    description: str,
    undo: ExitStack,
) -> ModelVersion:
    """A new version with its LoggedModel; `undo` deletes both."""
    _delete_unversioned(client, model, run_id)
    sealed = {**tags, "digest.files": digest(folder)}
    model_id = models.create(client, run_id, model, folder, sealed, {})
    undo.callback(client.delete_logged_model, model_id)
    place = client.get_logged_model(model_id).artifact_location  # `models:/<id>` is looked up in mlflow's global store
    created = client.create_model_version(model, place, run_id, tags=sealed, description=description, model_id=model_id)
    undo.callback(client.delete_model_version, model, created.version)
    return created


def _left_behind(client: MlflowClient, model: str, tags: Mapping[str, str]) -> ModelVersion | None:
    """The version with the same lineage: the digests of all that it was made from. Its files were there before it
    was.
    """
    lineage = digests_of(tags)
    found = client.search_model_versions(f"name = '{model}'")
    return next((one for one in found if lineage and lineage.items() <= digests_of(one.tags).items()), None)


def digests_of(tags: Mapping[str, str]) -> dict[str, str]:
    """{stage: digest} of what a version or a pipeline run was made from, by its tags `digest.STAGE`."""
    return {tag.removeprefix("digest."): digest for tag, digest in tags.items() if tag.startswith("digest.")}


def _delete_unversioned(client: MlflowClient, model: str, run_id: str) -> None:
    """LoggedModels of a run that were to become versions, and did not."""
    versioned = {one.source for one in client.search_model_versions(f"name = '{model}'")}
    for left in models.of_name(client, run_id, model):
        if left.artifact_location not in versioned:
            client.delete_logged_model(left.model_id)


def _with_text(client: MlflowClient, name: str, text: str) -> PromptVersion:
    """`register_prompt` would link what it makes to the experiment that this process happens to have open."""
    if client.get_prompt(name) is None:
        client.create_prompt(name)
    known = client.search_prompt_versions(name, max_results=MOST_VERSIONS)
    return next((one for one in known if one.template == text), None) or client.create_prompt_version(name, text)


def digest(folder: Path) -> str:
    """SHA-256 over the names and contents of all files in a folder. ValueError where there are none."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if not files:
        raise ValueError(f"{folder} holds no adapter")
    whole = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        whole.update(f"{path.relative_to(folder).as_posix()}\0{content}\n".encode())
    return whole.hexdigest()


def _point(client: MlflowClient, model: str, alias: str, version: str | None) -> None:
    if version is None:
        client.delete_registered_model_alias(model, alias)
    else:
        client.set_registered_model_alias(model, alias, version)


def _aliases(client: MlflowClient, model: str) -> dict[str, str]:
    found = client.search_registered_models(filter_string=f"name = '{model}'")
    return {alias: str(version) for alias, version in found[0].aliases.items()} if found else {}


def _ensure_model(client: MlflowClient, model: str) -> None:
    from mlflow.exceptions import MlflowException

    try:
        client.create_registered_model(model)
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise


def _record(version: ModelVersion) -> RegisteredModel:
    return RegisteredModel(version.name, int(version.version), version.run_id, version.source, dict(version.tags))
