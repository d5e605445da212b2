"""Writes the gate's result on the committed rating set, for both reward sets, into gate_results.md beside it.
Of a set that fails it holds the first finding of each task; `tucano audit` shows all.

python -m benchmarks.gate_table
"""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from rewards.sets import SetName
from tucano.audit.gate import audit
from tucano.audit.report import AuditReport
from tucano.audit.table import render_table
from tucano.project import COMMITTED_RATINGS
from tucano.settings import PipelineSettings

DOCUMENT = Path(__file__).parent / "gate_results.md"
SHOWN = 1
FINDING = re.compile(r"^- ([\w ]+): .*\n?(?:  .*\n?)*", re.MULTILINE)
"""A task's finding, over several lines."""
SETS: tuple[SetName, ...] = ("grounded", "v4.2")


def with_results(document: str, reports: Mapping[SetName, AuditReport]) -> str:
    """The document with each set's table in the code block below `<!-- result: SET -->`."""
    for name, report in reports.items():
        block = re.compile(rf"(<!-- result: {re.escape(name)} -->\n```\n).*?^```$", re.DOTALL | re.MULTILINE)
        table = render_table(report)
        shown = abridged(table) if report.failed_checks else table

        def filled(found: re.Match[str], shown: str = shown) -> str:
            return f"{found[1]}{shown}\n```"

        document = block.sub(filled, document)
    return document


def abridged(table: str) -> str:
    """A rendered table with the first findings of each task, and the number of the others."""
    return "\n".join(_first_findings(part) for part in re.split(r"\n(?=\n(?:Blocking|Warnings):$)", table, flags=re.M))


def _first_findings(part: str) -> str:
    seen: Counter[str] = Counter()

    def kept(found: re.Match[str]) -> str:
        seen[found[1]] += 1
        return found[0] if seen[found[1]] <= SHOWN else ""

    text = FINDING.sub(kept, part).rstrip("\n")
    more = ", ".join(f"{task} {number - SHOWN}" for task, number in seen.items() if number > SHOWN)
    return f"{text}\n  and further ones: {more}" if more else text


def main() -> None:
    settings = PipelineSettings()
    reports = {name: audit(name, COMMITTED_RATINGS, settings.audit, settings.tasks, settings.seed) for name in SETS}
    DOCUMENT.write_text(with_results(DOCUMENT.read_text(encoding="utf-8"), reports), encoding="utf-8")


if __name__ == "__main__":
    main()
