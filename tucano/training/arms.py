"""Registered versions among those that answer."""

from tucano.files.models import ServedFiles
from tucano.files.per_task import adapters_by_task
from tucano.training.jobs import Arm


def version_arm(name: str, served: ServedFiles) -> Arm:
    """A registered version as it is served: with its own system prompts, and the adapters of its tasks where its base
    is not all of it.
    """
    adapter = str(served.adapter) if adapters_by_task(served.adapter) else None
    return Arm(name, str(served.model), adapter, str(served.system_prompts))
