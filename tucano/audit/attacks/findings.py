"""What the search and lazy policies find in the rewards of one task, and what the audit says about it."""

import re
from collections.abc import Callable, Sequence
from random import Random
from statistics import fmean

from tucano.audit.attacks.search import Found, Search
from tucano.audit.bench import GOOD_RATING, Bench, Group
from tucano.audit.probes import worthless
from tucano.audit.relations.table import Row
from tucano.audit.report import AuditCheck, FoolingText, Level
from tucano.prompts import Prompt
from tucano.specs.registry import spec_of

SEARCHED_PROMPTS = 10
FLOOR = 0.30
"""A worthless answer may score this much at most."""
MOST_BORROWED = 0.25
"""With more than this share of its runs of words from good answers a text may be a good one itself."""
SHOWN = 3
_FIGURE = re.compile(r"\d[\d.,]*%?")
CONSTANTS = 12
"""Good answers that are tried as the one answer to every prompt."""


def searched(task: str, bench: Bench, groups: Sequence[Group], calls: int, seed: int) -> list[FoolingText]:
    """The texts that earn most beyond `FLOOR` and are borrowed least, each as short as it can be; best first."""
    rng = Random(f"{seed}/{task}")
    chosen = rng.sample(list(groups), min(SEARCHED_PROMPTS, len(groups))) if calls else []
    found = [
        FoolingText(task, group.prompt.id, group.prompt.user, best.text, best.score)
        for group in chosen
        if (best := _best(bench, group, groups, calls // len(chosen), rng))
    ]
    return sorted(found, key=lambda item: (-item.reward, item.text))[:SHOWN]


def _best(bench: Bench, group: Group, groups: Sequence[Group], calls: int, rng: Random) -> Found | None:
    search = search_for(bench, group, groups, rng)
    best = next(iter(unborrowed(search.run(calls))), None)
    return search.shortest(best) if best and best.score > FLOOR else None


def search_for(bench: Bench, group: Group, groups: Sequence[Group], rng: Random) -> Search:
    """A search for answers to a group's prompt, with the answers to the other prompts to take pieces from."""
    others = [answer for other in groups if other is not group for answer in other.answers]
    pieces = [answer.completion for answer in others if answer.completion.strip()]
    good = [answer.completion for answer in [*others, *group.answers] if answer.rating >= GOOD_RATING]
    start = [text for texts in worthless(group.prompt).values() for text in texts if text.strip()]
    return Search(group.prompt.user, start, pieces, good, lambda text: bench.total(group.prompt, text), rng)


def unborrowed(found: Sequence[Found]) -> list[Found]:
    """Those that are no good answers with a few words changed."""
    return [item for item in found if item.borrowed <= MOST_BORROWED]


def search_check(task: str, found: Sequence[FoolingText]) -> AuditCheck:
    highest = max((item.reward for item in found), default=0.0)
    example = f", first: {found[0].text[:60]!r}" if found else ""
    message = (
        f"{task}: a search made texts that no good answer contains and that earn up to {highest:.3f},"
        f" {FLOOR:.2f} is right; look at them{example}"
    )
    return AuditCheck(task, "search", "warn", not found, highest, FLOOR, message)


def lazy_checks(task: str, bench: Bench, groups: Sequence[Group], rows: Sequence[Row]) -> list[AuditCheck]:
    """What is earned in the mean without reading: by what stands around the text, and by one answer to all prompts.

    The second only warns: where the truth of many prompts is the same, one answer is right for many.
    """
    unread: Answers = {}
    for row in rows:
        for how, text in row.unread.items():
            unread.setdefault(how, []).append((row.prompt, text))
    return [
        _lazy_check(task, "lazy policy", "block", bench, _answered(groups, _unread(task)) | unread),
        _lazy_check(task, "one answer to all", "warn", bench, _answered(groups, _constants(task, groups))),
    ]


Policy = Callable[[Prompt], str]
Policies = dict[str, Policy]
"""{how: what it answers}"""
Answers = dict[str, list[tuple[Prompt, str]]]
"""{how: prompts and what is answered}"""


def _answered(groups: Sequence[Group], policies: Policies) -> Answers:
    return {how: [(group.prompt, answer(group.prompt)) for group in groups] for how, answer in policies.items()}


def _lazy_check(task: str, name: str, level: Level, bench: Bench, answers: Answers) -> AuditCheck:
    earned = {how: fmean(bench.total(*pair) for pair in pairs) for how, pairs in answers.items()}
    how, value = max(earned.items(), key=lambda item: item[1])
    most = spec_of(task).most_unread
    message = f"{task}: who does not read earns {value:.3f} in the mean ({how}), at most {most:.2f} is right"
    return AuditCheck.at_most(task, name, value, most, message, level)


def _unread(task: str) -> Policies:
    fixed = spec_of(task).baseline.constant
    return {
        "the prompt and a fixed answer": lambda prompt: f"{prompt.user}\n{fixed}",
        "the prompt's figures alone": _figures,
        "its figures and a fixed answer": lambda prompt: f"{_figures(prompt)}\n{fixed}",
    }


def _figures(prompt: Prompt) -> str:
    return " ".join(_FIGURE.findall(prompt.user))


def _constants(task: str, groups: Sequence[Group]) -> Policies:
    def always(text: str) -> Policy:
        return lambda prompt: text

    baseline = spec_of(task).baseline
    good = [answer.completion for group in groups for answer in group.answers if answer.rating >= GOOD_RATING]
    texts = [baseline.constant, baseline.majority([group.prompt for group in groups]), *good[:CONSTANTS]]
    return {f"always {text[:40]!r}": always(text) for text in texts}
