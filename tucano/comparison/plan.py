"""The analysis plan as a file: what will be primary, and by which tests it will be judged."""

import json
from pathlib import Path

from tucano.files.results import PlanFiles
from tucano.settings.comparison import PlanStage


def write_plan(settings: PlanStage, test_set: str, folder: Path) -> str:
    """Writes the plan; `test_set` is the digest of the test prompts. Returns what is primary, in words."""
    primary = f"mean of the seeds - {settings.reference}, {settings.comparison.primary} answers, mean reward per prompt"
    plan = {
        **settings.model_dump(mode="json"),
        "test_set": test_set,
        "primary": primary,
        "test": "exact one-sided Wilcoxon signed-rank (Pratt), then Holm over the tasks",
        "configuration": "two-way t over prompts and seeds, from three seeds on",
    }
    PlanFiles(folder).plan.write_text(json.dumps(plan, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return primary
