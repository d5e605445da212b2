"""What a look has seen, as a table and sentences for a terminal and for Prefect's page."""

from collections.abc import Iterator

from tucano.monitoring.quantities import FLOOR, REWARD, Quantity
from tucano.monitoring.state import Stream
from tucano.monitoring.watch import Seen
from tucano.presentation.tables import pipe_table
from tucano.statistics.sequential import Mean

COLUMNS = ("", "test answers", "served", "95 % interval", "this look", "evidence", "")


def headline(seen: Seen) -> str:
    """Like «tucano/3: nothing has changed as far as 1,200 answers tell»."""
    state = seen.state
    if seen.alarm is not None:
        return f"{state.champion}: alarm of {seen.alarm.at[:10]}, {seen.alarm.what}"
    count = Mean.of(state.streams[REWARD].since).count
    return f"{state.champion}: no alarm after {state.looks} looks at {count} answers"


def rows_of(seen: Seen) -> list[tuple[str, ...]]:
    """A row for each quantity; evidence is the wealth of its bets as a share of what is an alarm, on a logarithmic
    scale.
    """
    reward = next(quantity for quantity in seen.watched if quantity.name == REWARD)
    named = {FLOOR: reward} | {quantity.name: quantity for quantity in seen.watched}
    return [_row(name, quantity, seen.state.streams[name], seen.limit) for name, quantity in named.items()]


def _row(name: str, quantity: Quantity, stream: Stream, limit: float) -> tuple[str, ...]:
    before, since = Mean.of(stream.before), Mean.of(stream.since)
    mean, low, high = since.interval
    show = quantity.shown
    return (
        name,
        show(before.interval[0]) if before.count else "-",
        show(mean) if since.count else "-",
        f"{show(low)} to {show(high)}" if since.count else "-",
        show(stream.last) if stream.last is not None else "-",
        f"1 : {stream.highest:.3g}",
        "ALARM" if stream.highest >= limit else "",
    )


def lines_of(seen: Seen) -> Iterator[str]:
    """The whole report, without what to do next."""
    state = seen.state
    yield f"{headline(seen)}."
    yield ""
    yield from pipe_table([COLUMNS, *rows_of(seen)])
    yield ""
    yield (
        f"{seen.new} new lines in the log, {seen.scored} answers of {state.champion} scored, {seen.judged} held against"
        f" a reference. Evidence of 1 : {seen.limit:.3g} is an alarm (docs/monitoring.md)."
    )
    if seen.unusable:
        yield (
            f"{seen.unusable} references cannot be judged by (a query that does not run, facts without their text) and"
            " are left out."
        )
    if seen.unknown:
        yield (
            f"{seen.unknown} references are of requests that the log does not hold: put aside since, or the id is"
            " another one."
        )
    if seen.unreadable:
        name, number = seen.unreadable[0]
        yield f"{len(seen.unreadable)} lines cannot be read and are left out, the first: line {number} of {name}."
