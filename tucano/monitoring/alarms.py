"""An alarm, and what it asks for: a training with the prompts that were served.

Alarms lie in `monitoring/` of the storage: `alarm-ID.json`, and beside it `prompts-ID.jsonl` and, once a run has taken
it up, `taken-ID`. Nothing of it is ever started twice: the id follows from champion and test.
"""

import json
import os
import re
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from data.own.export import row_of
from data.own.prompts import read_own
from data.own.rows import LONGEST_TEXT
from tucano.errors import UserError
from tucano.monitoring.log import Found, Log, Served
from tucano.monitoring.state import State, read
from tucano.profiles import validated
from tucano.prompts import Prompt, Task
from tucano.security.printable import short
from tucano.settings import PipelineSettings
from tucano.storage.places import require_file, write_whole

FEWEST = 30
"""Usable served prompts of a retraining, and of each of its tasks a tenth: a set needs three groups."""
MOST_PROMPTS = 20_000
SOURCE, LICENCE = "served", "requests of our own service"
EVENT = "tucano.monitor.alarm"
ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Raised:
    """A quantity whose test has ended: means with their 95 % intervals before (test answers) and since (served), and
    the wealth that its bets came to.
    """

    quantity: str
    before: float
    before_low: float
    before_high: float
    since: float
    since_low: float
    since_high: float
    wealth: float


@dataclass(frozen=True, slots=True)
class Alarm:
    """`deployment` would train with `settings`; without one, `why` says why nothing can be trained."""

    id: str
    champion: str
    at: str
    raised: tuple[Raised, ...]
    prompts: int = 0
    deployment: str | None = None
    settings: dict[str, Any] | None = None
    approval_hours: float | None = None
    why: str = ""

    @property
    def what(self) -> str:
        return ", ".join(raised.quantity for raised in self.raised)


def alarm_of(state: State, raised: Sequence[Raised]) -> Alarm:
    """The one alarm that this test of a champion can raise."""
    identity = uuid.uuid5(uuid.NAMESPACE_OID, f"{state.champion} {state.digest} {state.number} {state.seed}")
    return Alarm(identity.hex, state.champion, datetime.now(UTC).isoformat(timespec="seconds"), tuple(raised))


def write_alarm(folder: Path, alarm: Alarm, settings: PipelineSettings, log: Log, found: Mapping[str, Found]) -> Alarm:
    """With its prompts and with what is to be trained."""
    place = folder / f"prompts-{alarm.id}.jsonl"
    lines = (json.dumps(row_of(prompt), ensure_ascii=False) + "\n" for prompt in _served(log, found, settings.tasks))
    write_whole(place, "".join(lines))
    usable = enough(read_own(place).prompts) if place.stat().st_size else []
    write_whole(place, "".join(json.dumps(row_of(prompt), ensure_ascii=False) + "\n" for prompt in usable))
    given: dict[str, Any] = {"prompts": len(usable), "approval_hours": settings.monitor.approval_hours}
    if settings.monitor.retrain is None:
        given["why"] = "monitor.retrain names no deployment"
    elif len(usable) < FEWEST:
        given["why"] = f"the log has {len(usable)} usable prompts, and {FEWEST} are needed"
    else:
        wanted = retraining(settings, place, usable).model_dump(mode="json")
        given |= {"deployment": settings.monitor.retrain, "settings": wanted}
    whole = Alarm(alarm.id, alarm.champion, alarm.at, alarm.raised, **given)
    write_whole(_file(folder, alarm.id), json.dumps(asdict(whole), ensure_ascii=False, allow_nan=False, indent=1))
    return whole


def read_alarm(folder: Path, identity: str) -> Alarm:
    """UserError where there is none, or a damaged one; whoever starts a run may name any."""
    if not ID.fullmatch(identity):
        raise UserError(f"{short(identity)} is no alarm's id; the event of an alarm names it")
    found = read(Alarm, _file(folder, identity), f"move {folder} away, and watching begins anew")
    if found is None:
        raise UserError(f"there is no alarm {identity} in {folder}; the event of an alarm names its storage")
    return found


def taken(folder: Path, identity: str, by: str) -> str:
    """Who has taken up an alarm: `by`, or who came first."""
    place = folder / f"taken-{identity}"
    draft = folder / f".taken-{identity}.{uuid.uuid4().hex}"
    try:
        draft.write_text(by, encoding="utf-8")
        os.link(draft, place)  # whole or not at all: a mark without a name would keep every run away
    except FileExistsError:
        require_file(place)
    finally:
        draft.unlink(missing_ok=True)
    return place.read_text(encoding="utf-8")[:200]


def is_taken(folder: Path, identity: str) -> bool:
    return (folder / f"taken-{identity}").exists()


def retraining(settings: PipelineSettings, place: Path, prompts: Sequence[Prompt]) -> PipelineSettings:
    """The same training with a share of the served prompts: at most a half of them are used up, since near copies stay
    out. The mix moves towards theirs by the same share, and the successor has to stand by each source alone.
    """
    plain = settings.model_dump(mode="json")
    data, held = settings.data, settings.monitor.share
    wanted = data.train_prompts + data.validation_prompts + data.test_prompts
    share = round(max(0.01, min(held, len(prompts) / (2 * wanted))), 3)
    old = [
        {"source": part.source, "path": path, "share": round(part.share * (1 - share), 9)}
        for part, path in zip(data.parts, data.paths, strict=True)
    ]
    served = Counter(prompt.task for prompt in prompts)
    mix = {task: (1 - share) * data.mix[task] + share * served[task] / len(prompts) for task in settings.tasks}
    mix = {task: round(part, 4) for task, part in mix.items()}
    largest = max(mix, key=lambda task: mix[task])
    mix[largest] = round(1 - sum(part for task, part in mix.items() if task != largest), 4)
    plain["data"] |= {
        "source": "synthetic",
        "path": None,
        "sources": [*old, {"source": "jsonl", "path": str(place.resolve()), "share": share}],
        "mix": mix,
    }
    plain["promotion"] |= {"each_source": True}
    return validated(plain)


def enough(prompts: Sequence[Prompt]) -> list[Prompt]:
    """Those of the tasks that have enough to be kept apart in three sets."""
    count = Counter(prompt.task for prompt in prompts)
    return [prompt for prompt in prompts if count[prompt.task] >= FEWEST // 10]


def _served(log: Log, found: Mapping[str, Found], tasks: Sequence[Task]) -> list[Prompt]:
    """The newest requests of the tasks that are trained, masked as the log has them, with the references that came."""
    rows = [row for row in log.rows if row.task in tasks and len(row.text) <= LONGEST_TEXT][-MOST_PROMPTS:]
    known = {row.id: found[row.id].reference for row in rows if row.id in found}
    return [prompt_of(row, known.get(row.id, {})) for row in rows]


def prompt_of(row: Served, reference: dict[str, Any]) -> Prompt:
    """A served request as a prompt, with what is known to be true about its answer."""
    return Prompt(row.id, row.task, row.text, "", SOURCE, LICENCE, reference=reference)


def _file(folder: Path, identity: str) -> Path:
    return folder / f"alarm-{identity}.json"
