"""The exam of history: each bug that once cost training runs, put back one at a time, is caught by the audit of the
committed ratings.
"""

from collections.abc import Iterator
from typing import Any

import invented_bugs
import invented_bugs_2
import invented_bugs_3
import invented_bugs_4
import invented_bugs_5
import invented_bugs_6
import pytest
from historic_bugs import BOTH, BUGS, REFACTORINGS, SETTINGS, Change, Examiner, examiner

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
    """What is asked of both sets is asked of the old one in the long exam alone, as is what takes half a minute."""

    def marks(change: Change, name: SetName) -> Any:
        is_slow = change.name == "the classifier's patterns recompiled"
        return pytest.mark.long if is_slow or (name == "v4.2" and "grounded" in change.sets) else ()

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
    report = exam.audited(name, bug, one_by_one=False)
    caught = [check for check in report.failed_checks if before.get((check.task, check.name))]
    assert {check.task for check in caught} == set(bug.tasks)
    assert all(check.message.startswith(f"{check.task}: ") for check in caught)


def test_clean_rewards_pass(clean: Clean) -> None:
    assert clean["grounded"].failed_checks == ()


@pytest.mark.parametrize(("change", "name"), cases(REFACTORINGS))
def test_a_refactoring_changes_no_result(exam: Examiner, clean: Clean, change: Change, name: SetName) -> None:
    before = {key: passed for key, passed in results(clean[name], change.tasks).items() if "rated " not in key[1]}
    assert results(exam.audited(name, change, one_by_one=False), change.tasks) == before


def test_there_are_twelve_bugs_and_ten_refactorings() -> None:
    assert len({bug.name for bug in BUGS}) >= 12
    assert len({change.name for change in REFACTORINGS}) == 10


def test_the_results_in_the_docs_are_current(exam: Examiner) -> None:
    document = DOCUMENT.read_text(encoding="utf-8")
    whole = {name: exam.audited(name, search_calls=SETTINGS.audit.search_calls, known=True) for name in BOTH}
    assert with_results(document, whole) == document, "python -m benchmarks.gate_table writes them anew"
    assert "`grounded`: passed" in document and "`v4.2`: failed" in document


def is_caught(exam: Examiner, clean: Clean, bug: Change) -> bool:
    """Whether a check of every task that the bug acts on fails, and passed without it."""
    before = results(clean["grounded"], bug.tasks)
    failed = [
        check for check in exam.audited("grounded", bug).failed_checks if before.get((check.task, check.name), True)
    ]
    return {check.task for check in failed} == set(bug.tasks)


AUTHORS = (invented_bugs, invented_bugs_2, invented_bugs_3, invented_bugs_4, invented_bugs_5, invented_bugs_6)


@pytest.mark.parametrize("bug", [bug for author in AUTHORS for bug in author.BUGS], ids=lambda bug: bug.name)
def test_invented_bugs_still_find_the_code_that_they_change(bug: Change) -> None:
    with pytest.MonkeyPatch.context() as patch:
        bug.apply(patch, "grounded")


@pytest.mark.parametrize(
    ("bugs", "least"),
    [
        pytest.param(invented_bugs.BUGS, 12, id="first author", marks=pytest.mark.long),
        pytest.param(invented_bugs_2.BUGS, 15, id="second author", marks=pytest.mark.long),
        pytest.param(invented_bugs_3.BUGS, 11, id="fourth author", marks=pytest.mark.long),
        pytest.param(invented_bugs_4.BUGS, 9, id="fifth author", marks=pytest.mark.long),
        pytest.param(invented_bugs_5.BUGS, 6, id="sixth author", marks=pytest.mark.long),
        pytest.param(invented_bugs_6.BUGS, 11, id="seventh author", marks=pytest.mark.long),
    ],
)
def test_so_many_invented_bugs_are_caught(exam: Examiner, clean: Clean, bugs: tuple[Change, ...], least: int) -> None:
    caught = [bug.name for bug in bugs if is_caught(exam, clean, bug)]
    assert len(bugs) >= 13
    assert len(caught) >= least, sorted({bug.name for bug in bugs} - {*caught})
