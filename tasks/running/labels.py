"""What runs and data sets are called: in Prefect by profile, seeds and date, in MLflow by the configuration."""

import re
from datetime import UTC, datetime
from pathlib import Path

from prefect import runtime
from prefect.utilities.urls import url_for

from tasks.running.handles import PromptSet, Questions
from tucano.artifacts.identity import fingerprint
from tucano.configuration import LONGEST, MOST_SAID, SHORT, configuration_digits, of_configuration, run_name, telling
from tucano.profiles import nearest_profile, project_root
from tucano.prompts import jsonl_lines
from tucano.security.printable import escaped, short
from tucano.settings import PipelineSettings
from tucano.tracking import DataSplit
from tucano.tracking.models import Context

DIGITS = re.compile(r"#[0-9a-f]{6}")


def train_name() -> str:
    """Like `laptop learning_rate=0.002, seeds 42 123 456, 2026-11-21 18:04`."""
    settings = runtime.flow_run.parameters["settings"]
    seeds = " ".join(map(str, settings.grpo.seeds))
    return f"{named(settings, runtime.deployment.name)}, seeds {seeds}, {_due().strftime('%Y-%m-%d %H:%M')}"


def named(settings: PipelineSettings, deployment: str | None = None) -> str:
    """The profile and what differs from it."""
    profile, rows = nearest_profile(project_root(Path.cwd()), settings)
    return run_name(deployment or profile, {name: here for name, here, _ in rows})


def seed_name() -> str:
    """Like `seed 42 of nano synthetic, 2026-11-21`, with all seeds that it trains."""
    seed = runtime.flow_run.parameters["seed"]
    return f"seed {' '.join(map(str, seed if isinstance(seed, list) else [seed]))} {_of_model()}"


def stage_name() -> str:
    """Like `sft of nano synthetic, 2026-11-21`."""
    return f"{short(str(runtime.flow_run.parameters['stage']))} {_of_model()}"


def benchmark_name() -> str:
    """Like `benchmark of nano synthetic, 2026-11-21`."""
    return f"benchmark {_of_model()}"


def _of_model() -> str:
    settings = runtime.flow_run.parameters["settings"]
    return f"of {settings.model.name} {settings.data.label}, {_day()}"


def plain_name() -> str:
    """Like `nightly, 2026-11-21`."""
    return f"{runtime.deployment.name or runtime.flow_run.flow_name}, {_day()}"


def _due() -> datetime:
    """When it was due, which a later attempt of the same run does not change."""
    return (runtime.flow_run.scheduled_start_time or datetime.now(UTC)).astimezone()


def _day() -> str:
    return _due().strftime("%Y-%m-%d")


def prefect_link() -> str:
    """Markdown for a run's note; empty where Prefect's page has no address that stays."""
    return (
        f"[Prefect run {escaped(str(runtime.flow_run.name))}]({url_for('flow-run', runtime.flow_run.id)})"
        if is_deployed()
        else ""
    )


def is_deployed() -> bool:
    """Whether a worker runs this flow for a deployment."""
    return bool(runtime.deployment.id)


def config_label(settings: PipelineSettings) -> str:
    """What runs that differ only in their seeds share: MLflow groups curves by it, and `tucano compare` takes it.

    MLflow's tables and legends cut it after some twenty characters, so it begins with what differs from the profile
    and six digits of a digest of all settings that make the configuration. Words for what a reader asks next follow:
    `lr=0.003 steps=15 #3fa9c1 nano synthetic grounded gdpo`.
    """
    plain = settings.model_dump(mode="json")
    profile, rows = nearest_profile(project_root(Path.cwd()), settings)
    made = {f"{section}.{name}" for section, values in of_configuration(plain).items() for name in values}
    chosen = telling({name: value for name, value, _ in rows if name in made})
    differs = {name.rpartition(".")[2]: value for name, value in chosen.items()}
    first = [f"{SHORT.get(name, name)}={short(str(value), LONGEST)}" for name, value in differs.items()]
    grpo = settings.grpo
    words = [settings.model.name.rpartition("/")[2], settings.data.label, grpo.rewards, grpo.advantages]
    return " ".join([*(first[:MOST_SAID] or [profile]), configuration_digits(plain), *words])


def digits_of(label: str) -> str:
    """The six digits in a configuration's label."""
    return next((word for word in label.split() if DIGITS.fullmatch(word)), label)


def data_split(prompts: PromptSet | Questions, name: str, context: Context) -> DataSplit:
    """A file of a prompt set as MLflow names it."""
    file = prompts.files.of(name)
    return DataSplit(
        name, context, str(fingerprint(file)["sha256"]), f"{prompts.digest[:16]}/{file.name}", len(jsonl_lines(file))
    )
