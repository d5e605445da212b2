"""Banks of templates, divided for good into what training may see and what only validation or only the test set
uses.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Literal

Pool = Literal["known", "validation", "test"]
"""Which templates a text is made of. Training and demonstrations draw from `known` only."""

Reword = Callable[[Random], tuple[str, str]]
"""Another wording of a prompt, its content as it is: (text, template)."""

JOINT = "+"
"""Between the parts of a composed template's name; a text is held out when *none* of its parts was seen in training."""


@dataclass(frozen=True)
class Bank:
    """Interchangeable templates of one meaning, by pool."""

    code: str
    known: tuple[str, ...]
    validation: tuple[str, ...]
    test: tuple[str, ...]
    further: tuple[str, ...] = ()
    """What only paraphrases of training prompts use, beside the known ones (`data.paraphrases`)."""

    def pool(self, pool: Pool) -> tuple[str, ...]:
        return {"known": self.known, "validation": self.validation, "test": self.test}[pool]

    def draw(self, pool: Pool, rng: Random) -> tuple[str, str]:
        """(name, template), uniformly from the pool."""
        templates = self.pool(pool)
        index = rng.randrange(len(templates))
        return f"{self.code}.{pool}{index}", templates[index]

    def reword(self, rng: Random) -> tuple[str, str]:
        """(name, template), uniformly from the known ones and the further ones."""
        named = [(f"{self.code}.known{index}", template) for index, template in enumerate(self.known)]
        named += [(f"{self.code}.further{index}", template) for index, template in enumerate(self.further)]
        return rng.choice(named)
