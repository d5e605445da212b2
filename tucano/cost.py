"""What a pipeline run cost: the hours in which a machine worked for it, times what an hour costs."""

from collections.abc import Iterable
from datetime import timedelta

from tucano.artifacts import Artifact


def machine_hours(stages: Iterable[Artifact]) -> float:
    """Hours in which at least one stage was made: seeds that train side by side on one machine count once.

    A reused stage counts with the hours that it took when it was made; attempts that were killed are not seen.
    """
    spans = sorted((stage.made_at - timedelta(seconds=stage.seconds), stage.made_at) for stage in stages)
    total, covered = timedelta(), None
    for start, end in spans:
        if covered is not None:
            start = max(start, covered)
        total += max(end - start, timedelta())
        covered = end if covered is None else max(covered, end)
    return total / timedelta(hours=1)
