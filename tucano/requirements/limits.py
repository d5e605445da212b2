"""What a container leaves of its machine: the limits of control groups, which neither psutil nor a process' affinity
knows.
"""

import math
from collections.abc import Iterator
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")


def most_memory() -> float:
    """Bytes that this process and those beside it may have; infinity where nothing limits them."""
    names = ("memory.max", "memory.limit_in_bytes")
    return min((_number(words[0]) for name in names for words in _found("memory", name)), default=math.inf)


def most_cores() -> float:
    """Cores' worth of time that they get; infinity where nothing limits them."""
    quotas = [*_found("cpu", "cpu.max"), *_found("cpu", "cpu.cfs_quota_us", "cpu.cfs_period_us")]
    return min((_number(quota) / float(period) for quota, period in quotas), default=math.inf)


def _found(controller: str, *names: str) -> Iterator[list[str]]:
    """The words of these files of our group and of those above it, whichever version of control groups it is."""
    lines = OWN.read_text(encoding="utf-8").splitlines() if OWN.exists() else []
    for _, controllers, path in (line.split(":", 2) for line in lines):
        if controllers and controller not in controllers.split(","):
            continue
        top = GROUPS / controller if controllers else GROUPS
        group = top / path.lstrip("/")
        for place in (group, *group.parents):
            if place.is_relative_to(top) and all((place / name).exists() for name in names):
                yield [word for name in names for word in (place / name).read_text(encoding="utf-8").split()]


def _number(word: str) -> float:
    """No limit is `max`, or -1."""
    return math.inf if word == "max" or word.startswith("-") else float(word)
