"""The spent rating sets, in one compressed table."""

from collections import Counter

from rewards.names import REPORTED
from tucano.project import COMMITTED_RATINGS
from tucano.rating.ratings import read_rating_set
from tucano.rating.table import read_sets


def test_each_set_has_four_tasks_and_two_ratings_of_each_answer() -> None:
    sets = read_sets()
    assert list(sets) == list(range(1, 24))
    assert sum(map(len, sets.values())) == 11_584
    for answers in sets.values():
        counted = Counter(answer.prompt.task for answer in answers)
        assert set(counted) == set(REPORTED) and min(counted.values()) >= 92
        assert all(len(answer.given) == 2 for answer in answers)
    raters = [{rater for answer in answers for rater in answer.raters} for answers in sets.values()]
    assert len(set().union(*raters)) == sum(map(len, raters))  # nobody rated two sets


def test_the_cases_of_the_audit_are_answers_of_the_table() -> None:
    rated = {(a.prompt.id, a.completion): a.rating for answers in read_sets().values() for a in answers}
    cases = read_rating_set(COMMITTED_RATINGS).cases
    assert len(cases) == 2965
    missing = [case for case in cases if rated.get((case.prompt.id, case.completion)) != case.rating]
    assert len(missing) <= 1, missing  # one was masked after it had been chosen
