"""The colour of a verdict."""

from typing import Literal

from tucano.comparison.verdict import Verdict


def tone(verdict: Verdict) -> Literal["good", "fair", "open", "bad"]:
    """`good`, `fair` (the adapter claim alone), `open` (nothing shown) or `bad` (hacking, or worse, if only on a
    task).
    """
    if verdict.hacking_suspected or verdict.worse or verdict.worse_tasks:
        return "bad"
    if verdict.better:
        return "good"
    return "fair" if verdict.improved else "open"
