"""Two things compared by choice: the share of decided comparisons that one of them wins, with its exact interval."""

from dataclasses import dataclass

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class WinRate:
    """Prompts that the first of two wins and loses, and those that nobody decides.

    Ties say nothing about who is better, so the rate is that among the decided prompts, as in a sign test (Dixon & Mood
    1946); the ties are told beside it. One prompt counts once, however many people judged it.
    """

    wins: int
    losses: int
    ties: int

    @property
    def decided(self) -> int:
        return self.wins + self.losses

    @property
    def rate(self) -> float | None:
        """None where nothing is decided."""
        return self.wins / self.decided if self.decided else None

    @property
    def interval(self) -> tuple[float, float]:
        """Two-sided 95 % interval of Clopper and Pearson (1934): it never covers less, however few prompts there are.
        Nothing decided: 0 to 1.
        """
        from scipy.special import betaincinv  # who rates waits for no statistics package

        tail = (1 - LEVEL) / 2
        low = float(betaincinv(self.wins, self.losses + 1, tail)) if self.wins else 0.0
        high = float(betaincinv(self.wins + 1, self.losses, 1 - tail)) if self.losses else 1.0
        return low, high

    @property
    def better(self) -> bool:
        """Whether the interval lies above one half."""
        return self.interval[0] > 0.5

    @property
    def worse(self) -> bool:
        return self.interval[1] < 0.5


@dataclass(frozen=True, slots=True)
class Preference:
    """How often `raters` people chose the answer of `side` over that of `against`, blind. `made_of`: what the run made
    each of the two from, where they come from a run.
    """

    side: str
    against: str
    raters: int
    wins: WinRate
    made_of: dict[str, str]
