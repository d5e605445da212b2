"""Completion-length curriculum: short completions first, longer ones later (Skywork-OR1, arXiv 2505.22312, multi-stage
training).
"""

from collections.abc import Iterable


def ceiling(stages: Iterable[tuple[int, int]], longest: int, step: int) -> int:
    """Tokens that a completion sampled at `step` (steps already taken) may have.

    `stages` are (step, tokens) in rising order of steps: from that step on, that ceiling. `longest` holds before the
    first one.
    """
    return next((tokens for start, tokens in reversed(list(stages)) if step >= start), longest)
