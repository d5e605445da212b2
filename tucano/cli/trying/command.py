"""`tucano try`: find the run, open the page over its models, end with Ctrl-C."""

import webbrowser
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from rewards import load_reward_set
from tucano.cli.rating.assessed import assessed
from tucano.cli.trying.models import Models
from tucano.cli.trying.page import Column, Trial, TryServer
from tucano.cli.trying.ratings import Ratings
from tucano.errors import UserError
from tucano.files.prompts import PromptFiles
from tucano.prompts import read_prompts
from tucano.rating.files import write
from tucano.rating.store import tables
from tucano.settings import PipelineSettings
from tucano.storage.root import working_copy
from tucano.tracking import Tracker
from tucano.tracking.store import named

FOLDER = "tried"
"""Below the storage: a rating folder for each prompt set, since each has a store of its own, and what models say."""
LIMITS = {
    "mini": "O modelo mini só conhece produtos e indicadores que leu: a quem pede outro, escreve sobre um conhecido."
}
TITLES = {"base": ("Base", "antes de todo treino"), "sft": ("SFT", "depois das demonstrações")}


def require_run(settings: PipelineSettings) -> None:
    """UserError where the storage holds no finished run."""
    root = working_copy(settings.storage)
    if not any(root.glob("artifacts/report/*/")):
        raise UserError(f"{root} holds no finished run to try; run `tucano run laptop` first")


def serve(settings: PipelineSettings, named_run: str | None, port: int, with_browser: bool) -> int:
    """Until Ctrl-C. named_run: a profile or a run; None for the newest."""
    root = working_copy(settings.storage)
    tracker = Tracker.connect(named(settings.tracking_uri), root)
    trial = _trial(settings, named_run, root, tracker)
    with (
        assessed(trial.ratings.folder, lambda: tracker),
        TryServer(trial, port) as server,
        closing(trial.models),
        _door(root, server.url) as door,
    ):
        print(
            f"Models    {', '.join(column.name for column in trial.columns)} of {trial.label}\n"
            f"Ratings   {trial.ratings.folder}\nOpen this link:\n\n    {server.url}\n\nCtrl-C stops.",
            flush=True,
        )
        server.serve_until_stopped(lambda: _open(door) if with_browser else None)
        print("Stopping …", flush=True)
    return 0


def _trial(settings: PipelineSettings, named_run: str | None, root: Path, tracker: Tracker) -> Trial:
    from tucano.cli.sides import candidates, shown_arms

    runs = tracker.pipelines()
    if not runs:
        raise UserError(f"{root} holds no finished run to try; run `tucano run laptop` first")
    side = candidates(named_run or runs[0].identity, root, tracker)[0]
    if side.settings is None:
        raise UserError(f"{named_run} is no run; name a profile, a configuration (like #3fa9c1) or a run's id")
    label = next(run.tags["config_label"] for run in runs if run.tags.get("digest.report") == side.chain["report"])
    files = PromptFiles(side.stages["data"])
    ratings = Ratings(root / FOLDER / side.chain["data"][:12], [path for path in files.stores if path.is_file()])
    arms = {arm.name: arm for arm in shown_arms(side)}
    best = ("Campeã", f"semente {side.shown_seed}, a melhor na validação")
    return Trial(
        label,
        [Column(name, *TITLES.get(name, best)) for name in arms],
        side.settings.tasks,
        {prompt.id: prompt for prompt in read_prompts(files.test)},
        Models(side.settings, arms, files.systems(), root / FOLDER / "models"),
        load_reward_set(side.settings.comparison.rewards, files.folder),
        ratings,
        tables(ratings.folder),
        LIMITS.get(side.settings.model.name, ""),
    )


@contextmanager
def _door(root: Path, url: str) -> Iterator[Path]:
    """A file of this user's alone that leads to the page: an address among a browser's arguments is read by everybody
    on the machine.
    """
    door = root / FOLDER / "open.html"
    write(door, f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={url}">', 0o600)
    try:
        yield door
    finally:
        door.unlink(missing_ok=True)


def _open(door: Path) -> None:
    """In a browser with a window; one of a terminal would take the terminal."""
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return
    if not isinstance(browser, webbrowser.GenericBrowser) or isinstance(browser, webbrowser.BackgroundBrowser):
        browser.open(door.resolve().as_uri())
