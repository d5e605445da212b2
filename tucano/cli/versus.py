"""`tucano compare A B`: verdict and report of any two runs, configurations, registered models or adapters."""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import Any

from tasks.report import curves_of
from tasks.running.labels import named as name_of
from tucano.artifacts.code_version import code_version
from tucano.artifacts.identity import base_identity, digest, fingerprint, folder_digest
from tucano.artifacts.records import write_record
from tucano.artifacts.store import Recipe, Store, described
from tucano.cli.sides import SideCandidate, candidates
from tucano.comparison.answers import Answer, read_answers
from tucano.comparison.looks import record_look
from tucano.comparison.table import render_table
from tucano.comparison.text_health import known_words
from tucano.comparison.versus import Side, versus
from tucano.errors import UserError
from tucano.files.models import SeedFiles, StartFiles
from tucano.files.per_task import adapters_by_task
from tucano.files.prompts import PromptFiles
from tucano.files.results import AnswerFiles, ComparisonFiles, ReportFiles
from tucano.presentation.tables import pipe_table, wrapped
from tucano.profiles import differences
from tucano.prompts import read_prompts
from tucano.report.report import Facts, render_report
from tucano.settings import PipelineSettings
from tucano.settings.stages import of_answers
from tucano.storage.folder import remote_of
from tucano.storage.root import writable
from tucano.tracking import Tracker
from tucano.tracking.store import named
from tucano.training.jobs import MODULES, Arm, Progress
from tucano.training.launch import run_job
from tucano.training.orders import JobFolders, order


def compare(settings: PipelineSettings, first: str, second: str) -> int:
    """Print the verdict on `first` against `second` and write its report. What has not answered the same prompts
    answers them now.
    """
    if first == second:
        raise UserError(f"{first!r} would be compared with itself; name two sides")
    root = writable(settings.storage)
    tracker = Tracker.connect(named(settings.tracking_uri), root)
    ours, theirs, frame = _pair(candidates(first, root, tracker), candidates(second, root, tracker), root, tracker)
    assert frame.settings is not None
    data = PromptFiles(frame.stages["data"])
    side_a, side_b = (_side(candidate, frame, root) for candidate in (ours, theirs))
    comparison = versus(
        side_a,
        side_b,
        read_prompts(data.test),
        frame.settings.comparison,
        known_words(data),
        ours.shown_seed,
        _looks(root, data.test, side_a, side_b, frame.settings),
    )
    folder = root / "compare" / re.sub(r"[^\w.-]+", "-", f"{first}-vs-{second}").strip("-")
    folder.mkdir(parents=True, exist_ok=True)
    write_record(ComparisonFiles(folder).comparison, comparison)
    page = ReportFiles(folder).page
    text = render_report(comparison, _facts(ours, theirs, frame), f"Tucano Commerce: {first} × {second}")
    page.write_text(text, encoding="utf-8")
    print("\n".join(_introduction(ours, theirs)))
    print(f"{render_table(comparison)}\n\nReport           {page}")
    return 0


def _introduction(ours: SideCandidate, theirs: SideCandidate) -> list[str]:
    """Who is compared with whom, and the settings in which they differ."""
    a, b = (f"{side.name} ({_origin(side)}seeds {' '.join(map(str, side.models))})" for side in (ours, theirs))
    lines = [*wrapped(f"A: {a}"), *wrapped(f"B: {b}"), *wrapped("The trained adapters below are those of A."), ""]
    if ours.settings is None or theirs.settings is None:
        return [*lines, "Not both come from a finished run here: in which settings they differ is not known.", ""]
    rows = [(name, str(here), str(there)) for name, here, there in differences(ours.settings, theirs.settings)]
    shown = pipe_table([("setting", "A", "B"), *rows]) if rows else ["No setting differs."]
    return [*lines, *shown, ""]


def _origin(side: SideCandidate) -> str:
    """Of a finished run its name and date."""
    made = described(side.stages["report"]) if "report" in side.stages else None
    if made is None or side.settings is None:
        return ""
    return f"run {name_of(side.settings)} of {made.made_at.astimezone():%Y-%m-%d %H:%M}, "


def _looks(root: Path, test_set: Path, ours: Side, theirs: Side, settings: PipelineSettings) -> int:
    """How often these prompts have judged, with this comparison: the same answers compared again are no second look."""
    sides = [[asdict(answer) for answers in side.answers.values() for answer in answers] for side in (ours, theirs)]
    looked = {"sides": sides, "comparison": settings.comparison.model_dump()}
    what = {"what": "compare", "sides": [ours.name, theirs.name]}
    return record_look(root, remote_of(settings.storage), test_set, looked, what)


def _pair(
    ours: Sequence[SideCandidate], theirs: Sequence[SideCandidate], root: Path, tracker: Tracker
) -> tuple[SideCandidate, SideCandidate, SideCandidate]:
    """The newest pair that was trained and judged on the same data, else the newest of each; and the run whose test set
    is asked.
    """
    pairs = list(product(ours, theirs))
    alike = (pair for pair in pairs if "data" in pair[0].chain and pair[0].chain["data"] == pair[1].chain.get("data"))
    first, second = next(alike, pairs[0])
    frame = next((candidate for candidate in (first, second) if candidate.settings), None)
    if frame is None:
        runs = tracker.pipelines()
        if not runs:
            raise UserError(
                f"{root} holds no finished run, whose test prompts both sides could answer; start one with: tucano run"
                " laptop"
            )
        frame = candidates(runs[0].identity, root, tracker)[0]
    return first, second, frame


def _side(candidate: SideCandidate, frame: SideCandidate, root: Path) -> Side:
    """The side with its answers to the frame's test prompts: stored ones where it gave them under the same settings."""
    if candidate.settings and _asked(candidate) == _asked(frame):
        stored = read_answers(AnswerFiles(candidate.stages["answers"]).answers)
        return Side(candidate.name, {seed: [a for a in stored if a.arm == f"seed-{seed}"] for seed in candidate.models})
    return Side(candidate.name, _answer_now(candidate, frame, root))


def _asked(candidate: SideCandidate) -> Mapping[str, Any]:
    """What has to be equal for stored answers to be comparable."""
    assert candidate.settings is not None
    asked = of_answers(candidate.settings, candidate.settings.seed).model_dump(mode="json", exclude={"model", "base"})
    return {"data": candidate.chain["data"], **asked}


def _answer_now(candidate: SideCandidate, frame: SideCandidate, root: Path) -> dict[int, list[Answer]]:
    assert frame.settings is not None
    settings = frame.settings
    if candidate.settings is not None:  # it is asked as it was trained
        own = settings.model.model_copy(update={"chat_template": candidate.settings.model.chat_template})
        settings = settings.model_copy(update={"model": own})
    began = time.monotonic()
    built = StartFiles(frame.stages["sft"]) if "sft" in frame.stages else None
    start = Arm("sft", str(built.model)) if built and built.built_here else None
    arms = [
        start or Arm("base", settings.model.place),
        *(replace(model, name=f"seed-{seed}") for seed, model in candidate.models.items()),
    ]
    recipe = Recipe(
        "answers-compared",
        of_answers(settings, settings.seed).model_dump(mode="json"),
        {"prompts": frame.chain["data"]} | {arm.name: _weights(arm) for arm in arms},
        code_version(MODULES["answer"]),
    )

    store = Store(root)

    def say(progress: Progress) -> None:
        print(f"{time.monotonic() - began:5.0f} s  {progress.line()}", flush=True)

    def produce(draft: Path) -> dict[str, Any]:
        folders = JobFolders(frame.stages["data"], store.work_folder(recipe), draft)
        job = order("answer", settings, settings.seed, settings.worker.threads, folders, arms=arms)
        return run_job(job, settings.worker.python, say)

    answers = read_answers(AnswerFiles(store.make(recipe, produce, print).folder).answers)
    return {seed: [answer for answer in answers if answer.arm == f"seed-{seed}"] for seed in candidate.models}


def _weights(arm: Arm) -> str:
    """What identifies a model: the content of its folders, or its name where it lies on a hub; and the system prompts
    that it is served with.
    """
    told = [fingerprint(Path(arm.system_prompts))["sha256"]] if arm.system_prompts else []
    if arm.adapter is None:
        return digest([base_identity(arm.base), None, *told])
    folder = Path(arm.adapter)
    each = {task: folder_digest(path) for task, path in adapters_by_task(folder).items()}
    return digest([base_identity(arm.base), each or folder_digest(folder), *told])


def _facts(ours: SideCandidate, theirs: SideCandidate, frame: SideCandidate) -> Facts:
    assert frame.settings is not None
    return Facts(
        run=f"{ours.name} × {theirs.name}",
        made_on=datetime.now().astimezone().date().isoformat(),
        overview="../../index.html",
        settings=(ours.settings or frame.settings).model_dump(mode="json"),
        baseline=theirs.name,
        differences=differences(ours.settings, theirs.settings) if ours.settings and theirs.settings else [],
        lineage={f"{side.name}: {stage}": value[:16] for side in (ours, theirs) for stage, value in side.chain.items()},
        training=(
            [curves_of(seed, SeedFiles(ours.stages[f"grpo-seed-{seed}"])) for seed in ours.models]
            if ours.stages
            else ()
        ),
    )
