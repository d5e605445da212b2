"""Writes the gate's result on the committed rating set, for both reward sets, into gate_results.md beside it.

python -m benchmarks.gate_table
"""

import re
from collections.abc import Mapping
from pathlib import Path

from rewards.sets import SetName
from tucano.audit.gate import audit
from tucano.audit.report import AuditReport
from tucano.audit.table import render_table
from tucano.project import COMMITTED_RATINGS
from tucano.settings import PipelineSettings

DOCUMENT = Path(__file__).parent / "gate_results.md"
SETS: tuple[SetName, ...] = ("grounded", "v4.2")


def with_results(document: str, reports: Mapping[SetName, AuditReport]) -> str:
    """The document with each set's table in the code block below `<!-- result: SET -->`."""
    for name, report in reports.items():
        block = re.compile(rf"(<!-- result: {re.escape(name)} -->\n```\n).*?^```$", re.DOTALL | re.MULTILINE)

        def filled(found: re.Match[str], report: AuditReport = report) -> str:
            return f"{found[1]}{render_table(report)}\n```"

        document = block.sub(filled, document)
    return document


def main() -> None:
    settings = PipelineSettings()
    reports = {name: audit(name, COMMITTED_RATINGS, settings.audit, settings.tasks, settings.seed) for name in SETS}
    DOCUMENT.write_text(with_results(DOCUMENT.read_text(encoding="utf-8"), reports), encoding="utf-8")


if __name__ == "__main__":
    main()
