"""Who may import whom, proven by looking at sys.modules in a fresh interpreter (import-linter reads the source
instead).
"""

import subprocess
import sys

import pytest

HEAVY = {"torch", "transformers", "trl", "peft", "prefect", "mlflow", "pandas", "scipy"}
OURS = {"flows", "tasks", "data", "tucano", "deployments"}


def packages_after(statement: str) -> set[str]:
    """Top-level packages in sys.modules once a fresh interpreter has run the statement."""
    code = f"{statement}\nimport sys\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize(
    ("statement", "forbidden"),
    [
        (
            "import tucano.settings, tucano.profiles, tucano.prompts, tucano.artifacts.store, tucano.storage.journal, tucano.storage.root",
            HEAVY,
        ),
        ("import tucano.cli.main", HEAVY),
        ("import tucano.cli.rate", HEAVY),
        ("import rewards", (HEAVY | OURS | {"numpy"})),
        ("import data.prepare", {"torch", "transformers", "prefect", "mlflow"}),
        (
            "import tucano.comparison.compare, tucano.audit.gate, tucano.report.report",
            {"torch", "prefect", "mlflow", "data"},
        ),
        ("import tucano.tracking", {"torch", "prefect", "mlflow", "data"}),
        ("import flows.train", {"torch", "transformers", "trl", "mlflow"}),
        (
            "import tucano.training.grpo, tucano.training.sft, tucano.training.answers",
            {"prefect", "mlflow", "data", "tasks", "flows"},
        ),
        (
            "from tucano.training import grpo_trainer, worker; worker.quieten_libraries(); grpo_trainer.trl.GRPOTrainer",
            {"prefect", "mlflow"},
        ),
    ],
)
def test_importing_stays_light(statement: str, forbidden: set[str]) -> None:
    assert not packages_after(statement) & forbidden
