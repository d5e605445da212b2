"""A score belongs to a prompt and a text: not to the prompt's number, to what was scored before, or to a batch."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from rewards import Score
from tucano.audit.bench import Bench, Group
from tucano.audit.report import AuditCheck
from tucano.prompts import Prompt

MOST_BATCHED = 120


def sameness_checks(task: str, bench: Bench, groups: Sequence[Group]) -> list[AuditCheck]:
    pairs = [(group.prompt, answer.completion) for group in groups for answer in group.answers]
    found = {"nameless": _named(bench, groups)}
    if batch := getattr(bench.rewards, "score_batch", None):
        found["batches"] = _batched(bench, pairs[:MOST_BATCHED], batch)
    return [_sameness_check(task, name, texts) for name, texts in found.items()]


def _sameness_check(task: str, name: str, changed: Sequence[str]) -> AuditCheck:
    what = {
        "nameless": "score differently when the prompt bears another number, template, source or licence",
        "batches": "score differently in a batch, turned around and with every pair twice",
    }[name]
    example = f", first: {changed[0][:60]!r}" if changed else ""
    message = f"{task}: {len(changed)} texts {what}{example}"
    return AuditCheck.at_most(task, name, len(changed), 0, message)


def _named(bench: Bench, groups: Sequence[Group]) -> list[str]:
    """Each prompt under the names of another, with the other's answers: what is kept by name gives the other's
    score."""
    changed = []
    for group, other in zip(groups, [*groups[1:], *groups[:1]], strict=True):
        renamed = _renamed(group.prompt, other.prompt)
        texts = [answer.completion for answer in (*other.answers, *group.answers)]
        changed += [text for text in texts if bench.score(renamed, text) != bench.score(group.prompt, text)]
    return changed


def _renamed(prompt: Prompt, other: Prompt) -> Prompt:
    return replace(
        prompt, id=other.id, template=other.template, source="own", licence="none", demonstration=other.demonstration
    )


def _batched(
    bench: Bench, pairs: Sequence[tuple[Prompt, str]], batch: Callable[[Sequence[Prompt], Sequence[str]], list[Score]]
) -> list[str]:
    """All pairs twice, the last first."""
    turned = [*pairs[::-1], *pairs[::-1]]
    try:
        scores = batch([prompt for prompt, _ in turned], [text for _, text in turned])
    except Exception as fault:  # a reward that raises is a finding of the audit, not a crash of it
        return [f"{type(fault).__name__} ({fault})"]
    if len(scores) != len(turned):
        return [f"{len(scores)} scores of {len(turned)} texts"]
    return [text for (prompt, text), score in zip(turned, scores, strict=True) if score != bench.score(prompt, text)]
