"""Running flows in this process, as `tucano run` does: an ephemeral Prefect server, and the verdict on the terminal."""

import json
import shlex
import warnings
from pathlib import Path

from tucano.errors import UserError
from tucano.evaluation.comparison import Comparison
from tucano.evaluation.verdict_table import render_table
from tucano.settings import PipelineSettings
from tucano.storage import owned, writable


def run(settings: PipelineSettings, profile: str) -> int:
    """Run the train flow to its verdict and say what to do next."""
    print("tucano: starting Prefect (10 to 20 seconds) ...", flush=True)
    warnings.filterwarnings("ignore", category=UserWarning, module="pydantic")
    from flows.train import train

    with owned(writable(settings.storage)):
        report = train(settings)
    print(f"\n{_last_verdict(settings)}\n")
    storage = "" if settings.storage == "runs" else f" --set storage={shlex.quote(settings.storage)}"
    print(f"Report           {report}")
    print(f"See the runs     tucano ui{storage}")
    print(f"Verdict again    tucano compare {profile}{storage}")
    print(f"Change a thing   tucano run {profile}{storage} --set grpo.max_steps=80")
    return 0


def benchmark(settings: PipelineSettings) -> int:
    """Run the benchmark flow to its table."""
    print("tucano: starting Prefect (10 to 20 seconds) ...", flush=True)
    warnings.filterwarnings("ignore", category=UserWarning, module="pydantic")
    from flows.benchmark import benchmark as judge

    with owned(writable(settings.storage)):
        table = judge(settings)
    print(f"\n{Path(table).read_text(encoding='utf-8')}")
    print(f"As a file        {table}")
    return 0


def audit(settings: PipelineSettings) -> int:
    """The audit alone, without Prefect: the table, and exit code 1 when the gate is closed."""
    from tasks.audit import COMMITTED_RATINGS
    from tucano.evaluation.audit import audit as audit_rewards
    from tucano.evaluation.audit_report import render_table as render_audit

    ratings = Path(settings.audit.ratings) if settings.audit.ratings else COMMITTED_RATINGS
    report = audit_rewards(settings.grpo.rewards, ratings, settings.audit, settings.tasks, settings.seed)
    print(render_audit(report))
    return 0 if report.may_proceed else 1


def compare(settings: PipelineSettings) -> int:
    """The verdict of the newest comparison in the storage."""
    print(_last_verdict(settings))
    return 0


def _last_verdict(settings: PipelineSettings) -> str:
    files = sorted(writable(settings.storage).glob("artifacts/comparison/*/comparison.json"), key=lambda path: path.stat().st_mtime)
    if not files:
        raise UserError(f"storage {settings.storage} holds no comparison yet; start one with: tucano run laptop")
    return render_table(Comparison.from_json(json.loads(files[-1].read_text(encoding="utf-8"))))
