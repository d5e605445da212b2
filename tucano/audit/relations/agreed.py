"""Answers of many writers about whose rating nobody is in doubt: each earns what its rating says.

A folder of ratings may hold some (cases.jsonl). Those that come with the program are from spent rating sets; on each,
two raters, the truth and the rewards of its day said the same. A mean over answers hides what goes wrong with one kind
of them, so every single one is asked, and how many may be wrong is said.
"""

from collections.abc import Sequence

from tucano.audit.bench import Bench
from tucano.audit.report import AuditCheck
from tucano.rating.ratings import RatedAnswer

BANDS = {1: (0.0, 0.2), 2: (0.0, 0.3), 3: (0.1, 0.75), 4: (0.65, 1.0), 5: (0.8, 1.0)}
"""{rating: the least and the most that an answer with it earns}."""
MOST_WRONG = 0.03
"""Share of the answers of a rating that may earn another one's: a formula knows no meaning."""


def agreed_checks(task: str, bench: Bench, cases: Sequence[RatedAnswer]) -> list[AuditCheck]:
    """One check per rating that there is."""
    by_rating: dict[int, list[RatedAnswer]] = {}
    for case in cases:
        by_rating.setdefault(round(case.rating), []).append(case)
    return [_agreed_check(task, rating, bench, by_rating[rating]) for rating in sorted(by_rating)]


def _agreed_check(task: str, rating: int, bench: Bench, cases: Sequence[RatedAnswer]) -> AuditCheck:
    least, most = BANDS[rating]
    scored = [(bench.total(case.prompt, case.completion), case.completion) for case in cases]
    wrong = [(score, text) for score, text in scored if not least <= score <= most]
    most_wrong = int(MOST_WRONG * len(cases))
    example = f", first ({wrong[0][0]:.2f}): {wrong[0][1][:60]!r}" if wrong else ""
    message = (
        f"{task}: {len(wrong)} of {len(cases)} answers that everybody rated {rating} do not earn {least:.2f} to"
        f" {most:.2f}{example}"
    )
    return AuditCheck.at_most(task, f"rated {rating}", len(wrong), most_wrong, message)
