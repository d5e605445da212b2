"""Datasets and models as MLflow knows them: what a run was trained or judged on, and what it kept.

A dataset is named with the digest of its file; a LoggedModel stands for a kept checkpoint, or for the model that is
served.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tucano.files.per_task import adapters_by_task

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import LoggedModel

Context = Literal["training", "validation", "evaluation"]

LONGEST_DIGEST = 36
"""MLflow cuts nothing: a dataset's digest may have this many characters."""

WEIGHTS = Path("data", "data", "model")
"""Where a packed folder holds the weights: mlflow puts the folder `data` into one of its own."""

REQUIREMENTS = ("torch", "transformers", "safetensors", "pandas")


@dataclass(frozen=True, slots=True)
class DataSplit:
    """A file of prompts: what it is used for, its SHA-256, where it came from and how many rows it has."""

    name: str
    context: Context
    sha256: str
    source: str
    rows: int

    @property
    def digest(self) -> str:
        return self.sha256[:LONGEST_DIGEST]


def log_datasets(client: MlflowClient, run_id: str, splits: Sequence[DataSplit]) -> None:
    """What a run learnt from or was judged on; data sets that it has already are not added twice.

    MLflow looks for a data set and then inserts it, in two steps. Of runs that log a new one at once all look before
    any has inserted; then one inserts, and the others are refused («UNIQUE constraint failed»). Asked again they find
    it: every refusal means that another run has got on, so as many attempts are enough as there are data sets.
    """
    from mlflow.entities import Dataset, DatasetInput, InputTag
    from mlflow.exceptions import MlflowException

    inputs = [
        DatasetInput(
            Dataset(
                split.name,
                split.digest,
                "local",
                f'{{"uri": "{split.source}"}}',
                profile=f'{{"num_rows": {split.rows}}}',
            ),
            [InputTag("mlflow.data.context", split.context)],
        )
        for split in splits
    ]
    for attempts_left in range(len(inputs), -1, -1):
        try:
            return client.log_inputs(run_id, inputs)
        except MlflowException as error:
            if error.error_code != "BAD_REQUEST" or not attempts_left:
                raise


def create(
    client: MlflowClient, run_id: str, name: str, folder: Path, tags: Mapping[str, str], params: Mapping[str, str]
) -> str:
    """A ready LoggedModel of a run that holds the files of `folder`; returns its id. A failure leaves none behind."""
    experiment = client.get_run(run_id).info.experiment_id
    model = client.create_logged_model(experiment, name, run_id, dict(tags), dict(params), model_type="adapter")
    try:
        client.log_model_artifacts(model.model_id, str(folder))
        client.finalize_logged_model(model.model_id, "READY")
    except BaseException:
        client.delete_logged_model(model.model_id)
        raise
    return str(model.model_id)


def of_name(client: MlflowClient, run_id: str, name: str) -> list[LoggedModel]:
    """The LoggedModels of a run that are called so."""
    experiment = client.get_run(run_id).info.experiment_id
    return list(client.search_logged_models([experiment], f"source_run_id = '{run_id}' AND name = '{name}'"))


def of_run(client: MlflowClient, run_id: str) -> str | None:
    """The newest LoggedModel of a run."""
    experiment = client.get_run(run_id).info.experiment_id
    order = [{"field_name": "creation_timestamp", "ascending": False}]
    found = client.search_logged_models([experiment], f"source_run_id = '{run_id}'", max_results=1, order_by=order)
    return str(found[0].model_id) if found else None


def pack(data: Path, loader: Path, folder: Path, example: list[dict[str, str]]) -> None:
    """Write a folder that `mlflow.pyfunc.load_model` and `mlflow models serve` understand.

    `loader` is a module that needs nothing of ours; it is copied beside the folder `data` that it loads, whose weights
    lie in `model`.
    """
    from importlib.metadata import version

    import pandas as pd
    from mlflow.models import ModelSignature
    from mlflow.pyfunc import save_model
    from mlflow.types import ColSpec, Schema

    also = ("peft",) if adapters_by_task(data / "adapter") else ()
    columns = Schema([ColSpec("string", name) for name in example[0]])
    save_model(
        str(folder),
        loader_module=loader.stem,
        data_path=str(data),
        code_paths=[str(loader)],
        signature=ModelSignature(columns, Schema([ColSpec("string", "answer")])),
        input_example=pd.DataFrame(example),
        pip_requirements=[f"{name}=={version(name)}" for name in ("mlflow", *REQUIREMENTS, *also)],
    )
