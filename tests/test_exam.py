"""The exam of history: each bug that once cost training runs, put back, is seen by the audit of the committed ratings."""

from collections.abc import Iterator
from typing import Any

import pytest
from historic_bugs import BOTH, BUGS, REFACTORINGS, Change, Examiner, examiner

from benchmarks.gate_table import DOCUMENT, with_results
from rewards.sets import SetName
from tucano.audit.report import AuditReport

Clean = dict[SetName, AuditReport]


@pytest.fixture(scope="module")
def exam() -> Iterator[Examiner]:
    with examiner() as found:
        yield found


@pytest.fixture(scope="module")
def clean(exam: Examiner) -> Clean:
    return {name: exam.audited(name) for name in BOTH}


def cases(changes: tuple[Change, ...]) -> list[Any]:
    """What is asked of both sets is asked of the old one in the long exam alone."""

    def marks(change: Change, name: SetName) -> Any:
        return pytest.mark.long if name == "v4.2" and "grounded" in change.sets else ()

    return [
        pytest.param(change, name, id=f"{name}: {change.name}", marks=marks(change, name))
        for change in changes
        for name in change.sets
    ]


def results(report: AuditReport, tasks: tuple[str, ...]) -> dict[tuple[str, str], bool]:
    """Whether each check of these tasks passed."""
    return {(check.task, check.name): check.passed for check in report.checks if check.task in tasks}


@pytest.mark.parametrize(("bug", "name"), cases(BUGS))
def test_the_audit_catches_it_with_a_message_that_names_the_task(
    exam: Examiner, clean: Clean, bug: Change, name: SetName
) -> None:
    before = results(clean[name], bug.tasks)
    report = exam.audited(name, bug)
    # two single wordings warn and do not block (tucano/audit/gate.py)
    caught = [check for check in report.checks if not check.passed and before.get((check.task, check.name))]
    assert {check.task for check in caught} == set(bug.tasks)
    assert all(check.message.startswith(f"{check.task}: ") for check in caught)


@pytest.mark.parametrize(("change", "name"), cases(REFACTORINGS))
def test_a_refactoring_changes_no_result(exam: Examiner, clean: Clean, change: Change, name: SetName) -> None:
    assert results(exam.audited(name, change), change.tasks) == results(clean[name], change.tasks)


def test_clean_rewards_pass_and_the_results_in_the_docs_are_current(exam: Examiner) -> None:
    document = DOCUMENT.read_text(encoding="utf-8")
    whole = {name: exam.whole(name) for name in BOTH}
    assert with_results(document, whole) == document, "python -m benchmarks.gate_table writes them anew"
    assert whole["grounded"].failed_checks == ()
    assert "`grounded`: passed" in document and "`v4.2`: failed" in document
