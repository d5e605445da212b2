"""The pairs that people preferred, as far as a run may learn from them: chosen once, where their file lies."""

from pathlib import Path
from typing import Any

from prefect import get_run_logger

from data.own.preferences import trainable_pairs
from tasks.handles import Preferences, PromptSet
from tasks.running.run import Run, stage
from tucano.artifacts.identity import fingerprint
from tucano.artifacts.store import Recipe
from tucano.errors import UserError
from tucano.files.models import PreferenceFiles
from tucano.preferences import require_pairs_file, write_answer_pairs
from tucano.settings.base import Section


@stage("choose preferences")
def choose_preferences(run: Run, prompts: PromptSet) -> Preferences | None:
    """What DPO learns of `dpo.pairs`; None where it learns from none. UserError where it has no others, and none of
    these may be learned from.
    """
    dpo = run.settings.dpo
    if not dpo.enabled or dpo.pairs is None:
        return None
    path = Path(dpo.pairs)

    def produce(recipe: Recipe, draft: Path) -> dict[str, Any]:
        pairs, left_out = trainable_pairs(path, prompts.files)
        write_answer_pairs(PreferenceFiles(draft).pairs, pairs)
        return {"pairs": len(pairs), "left_out": left_out}

    require_pairs_file(path)
    inputs = {"prompts": prompts.digest, "pairs": str(fingerprint(path)["sha256"])}
    made = Preferences(run.make("preferences", trainable_pairs, Section(), inputs, produce))
    left_out = ", ".join(f"{count} {why}" for why, count in made.record.left_out.items()) or "none"
    get_run_logger().info("%s: %d pairs to learn from, left out: %s", path, made.record.pairs, left_out)
    if not made.record.pairs and not dpo.ranked:
        raise UserError(
            f"dpo.pairs={path} leaves nothing to learn from (left out: {left_out}); name other pairs, or set"
            " dpo.ranked=true"
        )
    return made
