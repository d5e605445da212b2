"""Names of runs, by which a person finds them: profile, seeds, date."""

from datetime import UTC, datetime

from prefect import runtime


def train_name() -> str:
    """Like `laptop, seeds 42 123 456, 2026-11-21`."""
    settings = runtime.flow_run.parameters["settings"]
    return (
        f"{runtime.deployment.name or settings.model.name}, seeds {' '.join(map(str, settings.grpo.seeds))}, {_day()}"
    )


def seed_name() -> str:
    """Like `seed 42 of nano synthetic, 2026-11-21`."""
    parameters = runtime.flow_run.parameters
    return (
        f"seed {parameters['seed']} of {parameters['settings'].model.name} {parameters['settings'].data.source},"
        f" {_day()}"
    )


def benchmark_name() -> str:
    """Like `benchmark of nano synthetic, 2026-11-21`."""
    settings = runtime.flow_run.parameters["settings"]
    return f"benchmark of {settings.model.name} {settings.data.source}, {_day()}"


def plain_name() -> str:
    """Like `nightly, 2026-11-21`."""
    return f"{runtime.deployment.name or runtime.flow_run.flow_name}, {_day()}"


def _day() -> str:
    """The day it was due, which a later attempt of the same run does not change."""
    due = runtime.flow_run.scheduled_start_time or datetime.now(UTC)
    return due.astimezone().strftime("%Y-%m-%d")
