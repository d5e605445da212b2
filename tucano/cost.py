"""What stages cost: machine-hours times the price table of the settings (`cost.prices`), and what a gain cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tucano.artifacts.store import Artifact
from tucano.machine_time import Held, Stay, divided
from tucano.settings import CostSettings

POINT = 0.01
"""A gain is counted in hundredths of mean reward."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Machine-hours, those that led to nothing, and dollars; None where a machine has no price."""

    hours: float
    lost_hours: float
    attempts: int
    dollars: float | None
    unpriced: tuple[str, ...]


def costs(stages: Mapping[str, Artifact], settings: CostSettings) -> dict[str, Cost]:
    """The cost of every stage when it was made, by its name.

    A training knows its stays on machines, which it may have shared with the others; any other stage took its seconds
    on `cost.machine`.
    """
    stays = {
        name: [Stay(**stay) for stay in recorded]
        for name, stage in stages.items()
        if (recorded := stage.record.get("machine_time")) is not None
    }
    held = iter(divided([stay for found in stays.values() for stay in found]))
    spent = {name: [(stay.machine, next(held)) for stay in found] for name, found in stays.items()}
    for name in stages.keys() - stays.keys():
        spent[name] = [(settings.machine, Held(stages[name].seconds / 3600, 0.0))]
    return {name: _cost(spent[name], settings) for name in stages}


def _cost(spent: Sequence[tuple[str, Held]], settings: CostSettings) -> Cost:
    price = {row.machine: row.usd_per_hour for row in settings.prices}
    unpriced = tuple(sorted({machine for machine, _ in spent} - {*price}))
    dollars = None if unpriced else sum(held.hours * price[machine] for machine, held in spent)
    hours = sum(held.hours for _, held in spent)
    lost = sum(held.lost_hours for _, held in spent)
    return Cost(hours, lost, len(spent), dollars, unpriced)


def total(costs: Sequence[Cost]) -> Cost:
    """All of them together."""
    known = [cost.dollars for cost in costs if cost.dollars is not None]
    return Cost(
        sum(cost.hours for cost in costs),
        sum(cost.lost_hours for cost in costs),
        sum(cost.attempts for cost in costs),
        sum(known) if len(known) == len(costs) else None,
        tuple(sorted({machine for cost in costs for machine in cost.unpriced})),
    )


def dollars_per_point(cost: Cost, gain: float) -> float | None:
    """Dollars per hundredth of mean reward gained; None without a price or without a gain."""
    return None if cost.dollars is None or gain <= 0 else cost.dollars / (gain / POINT)


def sentence(cost: Cost, gain: float) -> str:
    """Like `2.31 machine-hours, 0.12 of them lost to interruptions; 1.89 USD, 0.36 USD per point (0.01) of reward
    gained`.
    """
    lost = f", {cost.lost_hours:.2f} of them lost to interruptions" if cost.lost_hours else ""
    if cost.dollars is None:
        named = [machine for machine in cost.unpriced if machine != CostSettings().machine]
        return f"{cost.hours:.2f} machine-hours{lost}" + (
            f"; no price for {', '.join(named)} in cost.prices" if named else ""
        )
    point = dollars_per_point(cost, gain)
    gained = "; nothing was gained" if point is None else f", {point:.2f} USD per point ({POINT}) of reward gained"
    return f"{cost.hours:.2f} machine-hours{lost}; {cost.dollars:.2f} USD{gained}"
