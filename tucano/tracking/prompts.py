"""The system prompts of registered models in MLflow's prompt registry: a prompt for each task, a version for each
text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tucano.tracking.store import recording
from tucano.tracking.tracker import Tracker

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities.model_registry import PromptVersion

MOST_VERSIONS = 1000


@recording
def register_prompts(tracker: Tracker, model: str, version: int, systems: Mapping[str, str]) -> None:
    """Register `systems` ({task: system prompt}) of a model's version as `MODEL.TASK`, each text once. Tags lead from
    either to the other: `prompt.TASK` of the model's version, `model.NUMBER` of the prompt's. MLflow keeps prompts and
    models by one name, and `promotion.model` has no dot.
    """
    for task, text in systems.items():
        prompt = _with_text(tracker.client, f"{model}.{task}", text)
        tracker.client.set_prompt_version_tag(prompt.name, prompt.version, f"model.{version}", f"{model}/{version}")
        tracker.client.set_model_version_tag(model, str(version), f"prompt.{task}", f"{prompt.name}/{prompt.version}")


def _with_text(client: MlflowClient, name: str, text: str) -> PromptVersion:
    """`register_prompt` would link what it makes to the experiment that this process happens to have open."""
    if client.get_prompt(name) is None:
        client.create_prompt(name)
    known = client.search_prompt_versions(name, max_results=MOST_VERSIONS)
    return next((one for one in known if one.template == text), None) or client.create_prompt_version(name, text)
