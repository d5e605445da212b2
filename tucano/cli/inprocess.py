"""Running flows in this process, as `tucano run` does: a Prefect server for the time of the run, and the verdict on the
terminal.
"""

import importlib
import os
import shlex
import shutil
import sys
import warnings
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from deployments.prefect_api import require_login
from deployments.servers import require_history
from tucano.artifacts.records import read_record
from tucano.artifacts.store import Store, last_used, newest_first, opened, read_manifest
from tucano.cli.machine.full_disk import ending_when_full
from tucano.cli.prefect_server import PrefectServer
from tucano.cli.terminal import breaking_silence
from tucano.comparison.compare import Comparison
from tucano.comparison.table import render_table
from tucano.configuration import PLACES, run_name
from tucano.errors import UserError
from tucano.files.results import ComparisonFiles, ReauditFiles
from tucano.overview.page import PAGE
from tucano.profiles import nearest_profile, project_root
from tucano.report.side_by_side import side_by_side
from tucano.requirements import require_space
from tucano.settings import PipelineSettings
from tucano.storage.folder import remote_of
from tucano.storage.locks import owned, shared
from tucano.storage.root import writable
from tucano.tracking import Tracker
from tucano.tracking.store import named, require_store_address

SIDE_BY_SIDE = "An answer of each task as it is served, the one that changed most nearly as usual, before and after:"


def run(settings: PipelineSettings, profile: str) -> int:
    """Run the train flow to its verdict and say what to do next."""
    report = flow_run("train", settings)
    root = writable(settings.storage)
    comparison = _last_comparison(settings)
    print(f"\n{render_table(comparison)}\n\n{SIDE_BY_SIDE}\n")
    print("\n".join(side_by_side(comparison)), end="\n\n")
    storage = "" if settings.storage == "runs" else f" --set storage={shlex.quote(settings.storage)}"
    print(f"Report           {report}")
    print(f"Overview         {root / PAGE}")
    print(f"See the runs     tucano ui{storage}")
    print(f"Verdict again    tucano compare {profile}{storage}")
    print(f"Change a thing   tucano run {profile}{storage} --set grpo.max_steps=80")
    print("Your own data    tucano data check FILE   (README, «Your own data»)")
    if shutil.which("tucano") is None:
        print(f"On your path     source {shlex.quote(str(Path(sys.executable).with_name('activate')))}")
    return 0


def benchmark(settings: PipelineSettings) -> int:
    """Run the benchmark flow to its table."""
    table = flow_run("benchmark", settings)
    print(f"\n{Path(table).read_text(encoding='utf-8')}")
    print(f"As a file        {table}")
    return 0


def flow_run(name: str, settings: PipelineSettings, *given: object) -> Any:
    """What a flow returns, run here."""
    root = writable(settings.storage)
    if store := named(settings.tracking_uri):
        require_store_address(store)  # before servers are started
    with owned(root), ending_when_full(root), breaking_silence():
        server = _start_prefect(settings, root)
        flow = getattr(importlib.import_module(f"flows.{name}"), name)
        Tracker.connect(named(settings.tracking_uri), root)  # a new store takes seconds as well
        if server is not None:
            server.wait()
        from tucano.cli.dead_runs import end_dead_runs, marked

        end_dead_runs(root)
        with marked(root):
            return flow(settings, *given)


def _start_prefect(settings: PipelineSettings, root: Path) -> PrefectServer | None:
    """Prefect's server beside this process, unless one is named; it starts while the flow is imported."""
    require_space(root, settings)
    is_named = bool(os.environ.get("PREFECT_API_URL"))
    if is_named:
        require_login()
    print("tucano: starting Prefect (about ten seconds) ...", flush=True)
    warnings.filterwarnings("ignore", category=UserWarning, module="pydantic")
    if is_named:
        return None
    require_history(root)
    return PrefectServer(root)


def _aside(line: str) -> None:
    print(line, file=sys.stderr)


def audit(settings: PipelineSettings) -> int:
    """The audit alone, without Prefect: tables, a page, and exit code 1 when the gate is closed. A run with the same
    storage finds it done.
    """
    from tucano.audit.parallel.process import stored
    from tucano.audit.report import AuditReport
    from tucano.audit.table import render_details
    from tucano.audit.table import render_table as render_audit
    from tucano.files.results import AuditFiles

    root = writable(settings.storage)
    with shared(root, _aside):
        files = AuditFiles(stored(settings, Store(root, remote_of(settings.storage)), _aside).folder)
    report = read_record(AuditReport, files.report)
    told = f"{render_details(report)}\n\n{_last_reaudit(settings)}{render_audit(report)}"
    print(f"{told}\n\nWith whole texts: {files.page}")
    return 0 if report.may_proceed else 1


def compare(settings: PipelineSettings, profile: str, overrides: Sequence[str]) -> int:
    """The verdict of the profile's newest run, or of the newest here where it has none, with the run's name and date.
    UserError where `overrides` ask for settings that no run here had.
    """
    root = writable(settings.storage)
    runs = _reported(root)
    found = next(iter([run for run in runs if run["settings"].get("profile") == profile] or runs), None)
    if any(override.partition("=")[0] not in PLACES for override in overrides):
        nearest, rows = nearest_profile(project_root(Path.cwd()), settings)
        asked = (nearest, {name: here for name, here, _ in rows if name not in PLACES})
        newest, found = found, next((run for run in runs if _asked(run) == asked), None)
        if newest is not None and found is None:
            again = " ".join(["tucano run", profile, *(f"--set {shlex.quote(override)}" for override in overrides)])
            place = "of this profile" if newest["settings"].get("profile") == profile else "here"
            raise UserError(
                f"no run with these settings; the newest {place} is {_named(newest)}: leave --set away, or begin one:"
                f" {again}"
            )
    if found is None:  # the newest run ended between its verdict and its report
        comparison = _last_comparison(settings)
        title = f"The newest verdict of {settings.storage}, whose run has written no report"
    else:
        comparison = read_record(Comparison, ComparisonFiles(opened(found["compared"]).folder).comparison)
        title = f"Run {_named(found)}"
    print(f"{title}\n\n{render_table(comparison)}")
    return 0


def _reported(root: Path) -> list[dict[str, Any]]:
    """Manifests of the reports whose comparison is there, the one used last first; `compared` is that one's folder."""

    def made(stage: str) -> list[tuple[Path, dict[str, Any]]]:
        read = ((folder, read_manifest(folder)) for folder in newest_first(root, stage))
        return [(folder, known) for folder, known in read if known is not None]

    folders = {known["digest"]: folder for folder, known in made("comparison")}
    reports = [known for _, known in made("report") if known["inputs"].get("comparison") in folders]
    return [{**known, "compared": folders[known["inputs"]["comparison"]]} for known in reports]


def _asked(run: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Of a reported run: the profile that it is nearest to, and {setting: its value} where they differ."""
    chosen = run["settings"]
    return chosen.get("profile", ""), {name: here for name, here, _ in chosen.get("differences", ())}


def _named(run: Mapping[str, Any]) -> str:
    seeds = " ".join(map(str, run["settings"].get("settings", {}).get("grpo", {}).get("seeds", ())))
    day = datetime.fromisoformat(run["made_at"]).astimezone()
    return f"{run_name(*_asked(run))}, seeds {seeds}, of {day:%Y-%m-%d %H:%M}"


def _last_reaudit(settings: PipelineSettings) -> str:
    """What the models of the storage's last run sample, if there is one."""
    folder = last_used(writable(settings.storage), "re-audit")
    if folder is None:
        return ""
    return f"After the last training in {settings.storage}:\n{ReauditFiles(folder).text.read_text(encoding='utf-8')}\n"


def _last_comparison(settings: PipelineSettings) -> Comparison:
    folder = last_used(writable(settings.storage), "comparison")
    if folder is None:
        raise UserError(f"storage {settings.storage} holds no comparison yet; start one with: tucano run laptop")
    return read_record(Comparison, ComparisonFiles(folder).comparison)
