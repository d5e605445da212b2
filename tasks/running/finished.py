"""What is there already, and nothing else: stages of a run that may not make anything."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tasks.running.run import Run
from tucano.artifacts.store import Artifact, Recipe, Store
from tucano.errors import TucanoError


class Untrained(TucanoError):
    """A stage of these settings has no valid artifact, and this run may not make one."""


class FinishedOnly(Store):
    """A store that makes nothing."""

    def make(
        self, recipe: Recipe, produce: Callable[[Path], Mapping[str, Any]], say: Callable[[str], None]
    ) -> Artifact:
        def refuse(draft: Path) -> Mapping[str, Any]:
            draft.rmdir()
            raise Untrained(recipe.stage)

        return super().make(recipe, refuse, lambda sentence: None)


def finished_only(run: Run) -> Run:
    """The same run, whose stages give what is there and make nothing: they raise Untrained."""
    return replace(run, store=FinishedOnly(run.store.root, run.store.remote))
