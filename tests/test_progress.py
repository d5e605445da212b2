"""The progress that Prefect's page shows of a training, whatever the training is called."""

from typing import Any
from uuid import uuid4

import pytest
from prefect.client.schemas.actions import ArtifactCreate

from tasks.running import progress
from tasks.running.progress import ProgressBar


@pytest.mark.parametrize(
    ("label", "key"), [("grpo seed 42", "grpo-seed-42"), ("grpo-seed-42-sql_qa", "grpo-seed-42-sql-qa")]
)
def test_its_key_is_one_that_prefect_takes(label: str, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[ArtifactCreate] = []

    def create(percent: float, key: str, description: str) -> Any:
        made.append(ArtifactCreate(key=key, data=percent, type="progress", description=description))
        return uuid4()

    monkeypatch.setattr(progress, "create_progress_artifact", create)
    monkeypatch.setattr(progress, "update_progress_artifact", lambda *_, **__: None)  # else it would start a server
    ProgressBar(label).close()
    assert [one.key for one in made] == [key]
