"""`tucano monitor`: one look, a table, and what to do next."""

import argparse
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tucano.settings import PipelineSettings

if TYPE_CHECKING:
    from tucano.monitoring.watch import Seen


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "profile", nargs="?", default="laptop", help="whose champion is watched, in which storage (default: laptop)"
    )
    command.add_argument(
        "--again",
        action="store_true",
        help="after an alarm, where the champion stays: begin a new test with what comes from now on",
    )


def main(arguments: argparse.Namespace, settings: PipelineSettings) -> int:
    """1 where an alarm stands, else 0."""
    from tucano.monitoring.table import lines_of
    from tucano.monitoring.watch import look
    from tucano.storage.root import writable
    from tucano.tracking import Tracker
    from tucano.tracking.store import named, require_registry

    require_registry(settings.storage, settings.tracking_uri)
    root = writable(settings.storage)
    seen = look(settings, root, Tracker.connect(named(settings.tracking_uri), root), arguments.again)
    print("\n".join([*lines_of(seen), "", *_advice(seen, settings, arguments.profile, root)]))
    return int(seen.alarm is not None)


def _advice(seen: "Seen", settings: PipelineSettings, profile: str, root: Path) -> Iterator[str]:
    storage = "" if settings.storage == "runs" else f" --set storage={shlex.quote(settings.storage)}"
    alarm = seen.alarm
    if alarm is None:
        yield f"Next look        tucano monitor {profile}{storage}"
        yield f"By the clock     tucano up, then switch on the schedule of monitor/{profile} in its page"
    elif alarm.deployment is None:
        yield f"No training      {alarm.why}"
        yield f"What was asked   {root / 'serving'}"
        yield f"Train again      tucano run {profile}{storage}"
    else:
        yield f"Next             {alarm.deployment} with {alarm.prompts} served prompts; a scheduled look starts it"
        yield f"The prompts      {root / 'monitoring'}/prompts-{alarm.id}.jsonl"
    if alarm is not None:
        yield f"It stays champion?  tucano monitor {profile}{storage} --again   watches on, with a new test"
