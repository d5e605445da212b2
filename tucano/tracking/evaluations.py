"""Stored answers as MLflow evaluation runs: `python -m tucano.tracking.evaluations spec.json`.

`mlflow.genai.evaluate` shows one prompt's answers of two arms side by side, and it works with mlflow's global state (a
store, an active run), so it has a process of its own. Nothing is generated and nothing leaves the machine: the scorers
look up stored scores.
"""

from __future__ import annotations

import hashlib
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tucano.artifacts.records import read_record, write_record
from tucano.masking import mask
from tucano.tracking.store import open_client

QUIET = {
    "MLFLOW_GENAI_EVAL_MAX_WORKERS": "1",
    "MLFLOW_GENAI_EVAL_MAX_SCORER_WORKERS": "1",
    "MLFLOW_GENAI_EVAL_PREDICT_RATE_LIMIT": "0",
    "MLFLOW_GENAI_EVAL_SCORER_RATE_LIMIT": "0",
    "MLFLOW_GENAI_EVAL_SKIP_TRACE_VALIDATION": "true",
    "TQDM_DISABLE": "1",
}
"""Nobody is asked: no limit of requests per second (ten, if nothing is said), no threads that wait for each other."""

ANSWER = "answer"
"""Tag of a trace, by which a rating finds it."""


def answer_key(task: str, text: str, answer: str) -> str:
    """The same for an answer to a request and for both once they are masked, as ratings keep them; 32 hex digits."""
    said = "\0".join((task, mask(text)[0], mask(answer)[0]))
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Row:
    """One answer: `task`, `prompt` and `gold` (what is known to be right) are the same for every arm; `components` are
    what its reward is made of.
    """

    task: str
    prompt: str
    answer: str
    reward: float
    truth: float | None
    components: dict[str, float]
    gold: str

    @property
    def why(self) -> str:
        return ", ".join(f"{name} {value:+.2f}" for name, value in self.components.items())


@dataclass(frozen=True, slots=True)
class Spec:
    """What the child is asked: the answers of each evaluation run, and the model that each belongs to (None: none is
    known).

    The store's address, which may hold a password, is not written: the child has it from its environment.
    """

    experiment: str
    rows: dict[str, list[Row]]
    models: dict[str, str | None]


def fill(spec: Spec, uri: str) -> str:
    """Have every run filled; returns what went wrong.

    In one process: two at once make the same rows of the store, and the later one fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "spec.json"
        write_record(path, spec)
        ended = subprocess.run(
            [sys.executable, "-m", "tucano.tracking.evaluations", str(path)],
            env=os.environ | {"MLFLOW_TRACKING_URI": uri},
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    return str(ended.stderr.strip().splitlines()[-1:]) if ended.returncode else ""


def main(spec: Spec) -> None:
    """Fill every run; one that has been filled by an earlier attempt is not filled twice."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    uri = os.environ["MLFLOW_TRACKING_URI"]
    client = open_client(uri)
    import mlflow

    logging.getLogger("mlflow").setLevel(logging.WARNING)
    mlflow.set_tracking_uri(uri)
    mlflow.set_experiment(experiment_id=spec.experiment)
    for run_id, rows in spec.rows.items():
        if "reward/mean" not in client.get_run(run_id).data.metrics:
            with mlflow.start_run(run_id=run_id):
                mlflow.genai.evaluate(
                    data=[_inputs(row) for row in rows], scorers=_scorers(rows), model_id=spec.models[run_id]
                )


def _inputs(row: Row) -> dict[str, Any]:
    """One line of what MLflow evaluates. An answer without a gold one has no expectation."""
    expected = {"expectations": {"gold answer": row.gold}} if row.gold else {}
    known_by = {ANSWER: answer_key(row.task, row.prompt, row.answer)}
    return {"inputs": {"prompt": row.prompt, "task": row.task}, "outputs": row.answer, "tags": known_by, **expected}


def _scorers(rows: list[Row]) -> list[Callable[..., Any]]:
    from mlflow.entities import Feedback
    from mlflow.genai.scorers import scorer

    stored = {(row.task, row.prompt): row for row in rows}

    def row_of(inputs: Mapping[str, str]) -> Row:
        return stored[inputs["task"], inputs["prompt"]]

    @scorer
    def reward(inputs: dict[str, str]) -> Any:
        return Feedback(value=row_of(inputs).reward, rationale=row_of(inputs).why)

    @scorer
    def truth(inputs: dict[str, str]) -> Any:
        return [] if row_of(inputs).truth is None else Feedback(value=row_of(inputs).truth, rationale="ground truth")

    return [reward, truth]  # each further one would write as many rows again


if __name__ == "__main__":
    main(read_record(Spec, Path(sys.argv[1])))
