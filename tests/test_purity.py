"""Who may import whom, by sys.modules in a fresh interpreter (import-linter reads the source instead)."""

import subprocess
import sys

import pytest

HEAVY = {"torch", "transformers", "trl", "peft", "prefect", "mlflow", "pandas", "scipy"}
OURS = {"flows", "tasks", "data", "tucano", "deployments"}


def packages_after(*statements: str) -> list[set[str]]:
    """Top-level packages in sys.modules of a fresh interpreter that runs the statements, after each of them."""
    told = "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    code = "\n".join(["import sys", *(line for statement in statements for line in (statement, told))])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return [set(line.split()) for line in done.stdout.splitlines()]


SHARED = [
    {
        "import rewards": HEAVY | OURS | {"numpy"},
        "import tucano.settings, tucano.profiles, tucano.prompts, tucano.artifacts.store": HEAVY,
        "import tucano.storage.journal, tucano.storage.root": HEAVY,
        "import tucano.cli.main": HEAVY,
        "import tucano.cli.rating.command": HEAVY,
        "import data.prepare": {"torch", "transformers", "prefect", "mlflow"},
        "import flows.train": {"torch", "transformers", "trl", "mlflow"},
    },
    {
        "import tucano.comparison.compare, tucano.audit.gate, tucano.report.report": {
            "torch",
            "prefect",
            "mlflow",
            "data",
        },
        "import tucano.tracking": {"torch", "prefect", "mlflow", "data"},
    },
    {
        # as a worker does it, who quietens libraries first
        "from tucano.training import grpo_trainer, worker; worker.quieten_libraries(); grpo_trainer.trl.GRPOTrainer": {
            "prefect",
            "mlflow",
        },
        "import tucano.training.grpo, tucano.training.sft, tucano.training.answers": {
            "prefect",
            "mlflow",
            "data",
            "tasks",
            "flows",
        },
    },
]
"""An interpreter each, for starting one takes seconds. What a statement brings in stays, so it is as if the later ones
had brought it, too: that is stricter than an interpreter for each.
"""


@pytest.mark.parametrize("statements", SHARED)
def test_importing_stays_light(statements: dict[str, set[str]]) -> None:
    after = dict(zip(statements, packages_after(*statements), strict=True))
    brought = {statement: after[statement] & forbidden for statement, forbidden in statements.items()}
    assert not any(brought.values()), brought
