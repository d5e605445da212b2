"""What the seeds cost: in MLflow per training run and for the pipeline, and as a table in the Prefect page."""

from prefect import get_run_logger
from prefect.artifacts import create_table_artifact

from tasks.compare import read_comparison
from tasks.context import Run, stage
from tucano.artifacts import Artifact
from tucano.cost import Cost, cost_of, dollars_per_point, sentence, total


@stage("cost")
def account(run: Run, seeds: list[Artifact], comparison: Artifact) -> str:
    """One sentence with machine-hours (lost and repeated work included), dollars, and dollars per gain over the primary reference."""
    everything, gain = spent(run, seeds, comparison)
    rows = []
    for seed in seeds:
        cost = cost_of(seed.record, run.settings.cost.prices)
        run.tracker.log_metrics(seed.record["tracking_run"], _metrics(cost))
        rows.append(_row(f"seed {seed.record['seed']}", cost))
    point = dollars_per_point(everything, gain)
    run.tracker.log_metrics(run.tracking_run, _metrics(everything) | ({} if point is None else {"cost/usd_per_point": point}))
    said = sentence(everything, gain)
    create_table_artifact(key="cost", table=rows, description=said)
    get_run_logger().info("cost: %s", said)
    return said


def spent(run: Run, seeds: list[Artifact], comparison: Artifact) -> tuple[Cost, float]:
    """The cost of all seeds together, and the gain in mean reward that it bought."""
    costs = [cost_of(seed.record, run.settings.cost.prices) for seed in seeds]
    return total(costs), read_comparison(comparison).main.overall.gain


def _metrics(cost: Cost) -> dict[str, float]:
    metrics = {"cost/machine_hours": cost.hours, "cost/lost_hours": cost.lost_hours, "cost/attempts": float(cost.stays)}
    return metrics if cost.dollars is None else metrics | {"cost/usd": cost.dollars}


def _row(name: str, cost: Cost) -> dict[str, object]:
    return {
        "what": name,
        "machine-hours": round(cost.hours, 3),
        "of them lost": round(cost.lost_hours, 3),
        "attempts": cost.stays,
        "USD": "no price" if cost.dollars is None else round(cost.dollars, 2),
    }
