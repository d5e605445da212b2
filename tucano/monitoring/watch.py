"""One look: what came since the last one is counted, and every test goes on from where it stood."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tucano.artifacts.identity import digest
from tucano.errors import UserError
from tucano.masking import mask
from tucano.masking.prompts import masked_reference
from tucano.monitoring.alarms import Alarm, Raised, alarm_of, read_alarm, write_alarm
from tucano.monitoring.log import Found, Line, Log, Served, read_log, read_references
from tucano.monitoring.quantities import FLOOR, REWARD, TRUTH, Look, Quantity
from tucano.monitoring.reference import Reference, Value, reference_of, values_of
from tucano.monitoring.state import FOLDER, State, Stream, read_state, write_state
from tucano.prompts import Prompt
from tucano.serving.request_log import FOLDER as SERVING
from tucano.settings import PipelineSettings
from tucano.settings.promotion import MonitorSettings
from tucano.statistics.sequential import BETS, Array, Mean, binned, counted, falling, ranks, unusual, wagered
from tucano.storage.locks import owned
from tucano.tracking import RegisteredModel, Tracker


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look has seen. `new`: lines since the last look; `scored`: answers of the champion that were counted;
    `judged`: those held against a reference; `unusable`: references that cannot be judged by; `unknown`: those of
    requests that the log does not hold; `alarm`: the one that stands.
    """

    state: State
    watched: tuple[Quantity, ...]
    new: int
    scored: int
    judged: int
    unusable: int
    unknown: int
    unreadable: tuple[Line, ...]
    limit: float
    alarm: Alarm | None


def look(settings: PipelineSettings, root: Path, tracker: Tracker, again: bool = False) -> Seen:
    """One look at what the champion of a storage answers. `again`: where an alarm stands, a new test begins with what
    comes from now on. UserError where there is no champion, or no log.
    """
    champion = tracker.champion(settings.promotion.model)
    if champion is None:
        raise UserError(
            f"storage {root} has no {settings.promotion.model}@champion that could be watched; train one first: tucano"
            " run laptop"
        )
    with owned(root / FOLDER):
        log = read_log(root / SERVING)
        if not log.rows:
            raise UserError(
                f"{root / SERVING} holds no requests; keep some of them: tucano serve --set serving.log_requests=true"
            )
        return _look(settings, root, champion, log, again)


def _look(settings: PipelineSettings, root: Path, champion: RegisteredModel, log: Log, again: bool) -> Seen:
    folder = root / FOLDER
    reference = reference_of(root, champion, settings.comparison.rewards)
    before = read_state(folder)
    found, odd = read_references(root / SERVING)
    if again and before is not None and before.alarm is not None:  # what lies there by now is not looked at
        before.bookmark = list(log.bookmark)
        before.judged = [row.id for row in log.rows if row.id in found]
    state = _state_of(before, champion, reference, settings, again)
    new = log.since(state.bookmark)
    random = np.random.default_rng([state.seed, state.looks])
    drawn = _drawn([row for row in new if row.by == state.champion], settings.monitor.sample, random)
    judged = _unjudged(log, found, state, settings.monitor.sample)
    looks = {
        quantity.name: [_referred(row, found[row.id]) for row in judged]
        if quantity.name == TRUTH
        else [_plain(row) for row in drawn]
        for quantity in reference.watched
    }
    values = {quantity.name: values_of(quantity, looks[quantity.name]) for quantity in reference.watched}
    for name, stream in state.streams.items():
        _count(stream, values[REWARD if name == FLOOR else name], settings.monitor if name == FLOOR else None, random)
    state.looks += 1
    state.bookmark = list(log.bookmark)
    kept = {row.id for row in log.rows}
    state.judged = [*(one for one in state.judged if one in kept), *(row.id for row in judged)]
    limit = state.limit(settings.monitor.alarm_rate)
    alarm = _alarmed(state, limit, settings, folder, log, found)
    write_state(folder, state)
    return Seen(
        state=state,
        watched=tuple(reference.watched),
        new=len(new),
        scored=len(drawn),
        judged=len(values[TRUTH]),
        unusable=len(judged) - len(values[TRUTH]),
        unknown=len(found.keys() - kept),
        unreadable=log.unreadable + odd,
        limit=limit,
        alarm=alarm,
    )


def _state_of(
    state: State | None, champion: RegisteredModel, reference: Reference, settings: PipelineSettings, again: bool
) -> State:
    """That of this champion: gone on with, or begun with its test answers. Another question is another test, and so is
    the same one `again` after an alarm.
    """
    watched = [f"{one.name} within its task" if one.within_task else one.name for one in reference.watched]
    asked = [settings.monitor.floor, settings.comparison.rewards, *watched]
    bound = digest([champion.tags.get("digest.grpo"), asked])
    if state is not None and (state.champion, state.digest) == (champion.name, bound) and not (again and state.alarm):
        return state
    fresh = State(champion.name, bound) if state is None else state.followed_by(champion.name, bound)
    for quantity in reference.watched:
        values = reference.values[quantity.name]
        numbers = [value.number for value in values]
        stream = Stream(stakes=[0.0] * (2 * len(BETS)), before=Mean().add(numbers).numbers, since=Mean().numbers)
        for task, chosen in _by_task(values).items():
            stream.remember(task, counted(binned([numbers[place] for place in chosen])))
        fresh.streams[quantity.name] = stream
    rewarded = fresh.streams[REWARD]
    fresh.streams[FLOOR] = Stream(stakes=[0.0] * len(BETS), before=rewarded.before, since=Mean().numbers)
    return fresh


def _drawn(rows: Sequence[Served], most: int, random: np.random.Generator) -> list[Served]:
    """In no order: what came at once hangs together less then."""
    return [rows[place] for place in random.permutation(len(rows))[:most]]


def _unjudged(log: Log, found: dict[str, Found], state: State, most: int) -> list[Served]:
    """The champion's answers to which a reference came back since the last look."""
    before = set(state.judged)
    rows = [row for row in log.rows if row.id in found and row.by == state.champion and row.id not in before]
    return rows[:most]


def _plain(row: Served) -> Look:
    return Look(Prompt(row.id, row.task, row.text, "", "", ""), row.answer)


def _referred(row: Served, found: Found) -> Look:
    plain = _plain(row)
    reference = masked_reference(found.reference, lambda text: mask(text)[0])
    return replace(plain, prompt=replace(plain.prompt, reference=reference))


def _count(stream: Stream, found: list[Value], against: MonitorSettings | None, random: np.random.Generator) -> None:
    """Go on with one test. `against`: the floor that the values are held against; None for the test answers."""
    if not found:
        stream.last = None
        return
    stream.looks += 1
    values = [value.number for value in found]
    if against is not None:
        returns = falling(np.array([values]), against.floor)
    else:
        returns = unusual(_ranked(stream, found, random))
    stakes, highest = wagered(np.array([stream.stakes]), stream.looks, returns)
    stream.stakes = [float(stake) for stake in stakes[0]]
    stream.highest = max(stream.highest, float(highest[0]))
    stream.since = Mean.of(stream.since).add(values).numbers
    stream.last = sum(values) / len(values)


def _ranked(stream: Stream, values: list[Value], random: np.random.Generator) -> Array:
    """The ranks (1, n) of values in their order, each among those before it that it is held against. They are uniform
    whatever the mix of tasks, as long as the values of each task are exchangeable.
    """
    found = np.empty((1, len(values)))
    for task, places in _by_task(values).items():
        numbers = binned([values[place].number for place in places])
        seen = np.array([stream.seen_of(task)])
        found[:, places] = ranks(seen, numbers[None, :], random.random((1, len(places))))
        stream.remember(task, counted(numbers))
    return found


def _by_task(values: list[Value]) -> dict[str, list[int]]:
    """The places of each task's values."""
    places: dict[str, list[int]] = {}
    for place, value in enumerate(values):
        places.setdefault(value.task, []).append(place)
    return places


def _alarmed(
    state: State, limit: float, settings: PipelineSettings, folder: Path, log: Log, found: dict[str, Found]
) -> Alarm | None:
    """The alarm that stands. A test has one: what comes after it is said by the next test, of its successor or of the
    champion that stays.
    """
    if state.alarm is not None:
        return read_alarm(folder, state.alarm)
    raised = [
        Raised(name, *Mean.of(stream.before).interval, *Mean.of(stream.since).interval, stream.highest)
        for name, stream in state.streams.items()
        if stream.highest >= limit
    ]
    if not raised:
        return None
    alarm = write_alarm(folder, alarm_of(state, raised), settings, log, found)
    state.alarm = alarm.id
    return alarm
