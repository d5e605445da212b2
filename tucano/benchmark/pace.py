"""How fast the trained arms answer: one request at a time, eight, and thirty-two."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tucano.artifacts.records import parsed

AT_A_TIME = {1: 24, 8: 6, 32: 3}
"""{requests at a time: how often so many are asked}: enough answers for a median, few enough for a laptop."""


@dataclass(frozen=True, slots=True)
class Pace:
    """One arm, asked `at_a_time` requests together, again when all have their answers.

    `seconds`: from asking to the last answer, of each round. `tokens`: of all answers.
    """

    arm: str
    at_a_time: int
    seconds: list[float]
    tokens: int

    @property
    def answers(self) -> int:
        return self.at_a_time * len(self.seconds)

    @property
    def per_second(self) -> float:
        """Answers."""
        return self.answers / sum(self.seconds)


def write_paces(path: Path, paces: Sequence[Pace]) -> None:
    path.write_text(json.dumps([asdict(pace) for pace in paces], indent=1) + "\n", encoding="utf-8")


def read_paces(path: Path) -> tuple[Pace, ...]:
    return parsed(tuple[Pace, ...], json.loads(path.read_text(encoding="utf-8")))
