"""What a pipeline cost: in MLflow per training run and for the pipeline, and as a table in the Prefect page."""

from prefect import get_run_logger

from tasks.running.handles import ComparisonResult, Seeds
from tasks.running.pages import show_table
from tasks.running.run import Run, stage
from tasks.running.tracked import training_run
from tucano.cost import Cost, costs, dollars_per_point, sentence, total


@stage("cost")
def account(run: Run, seeds: Seeds, comparison: ComparisonResult) -> str:
    """One sentence with machine-hours (lost and repeated work included), dollars, dollars per gain over the primary
    reference, and how much of it this run did not spend again.
    """
    everything, gain = spent(run, comparison)
    each = costs(run.stages, run.settings.cost)
    reused = total([cost for name, cost in each.items() if run.stages[name].reused]).hours
    for seed in seeds.trained:
        if seed.record.tracking_run and (identity := training_run(run, seed)) is not None:
            run.tracker.log_metrics(identity, _metrics(each[seed.artifact.stage]))
    point = dollars_per_point(everything, gain)
    more = {"cost/reused_hours": reused} | ({} if point is None else {"cost/usd_per_point": point})
    run.tracker.log_metrics(run.tracking_run, _metrics(everything) | more)
    said = sentence(everything, gain) + (f"; {reused:.2f} machine-hours of it were reused" if reused else "")
    show_table("cost", [_row(name, cost, run.stages[name].reused) for name, cost in each.items()], said)
    log = get_run_logger()
    for name, cost in each.items():
        log.info("%-18s %7.1f s%s", name, 3600 * cost.hours, "   (reused)" if run.stages[name].reused else "")
    log.info("cost: %s", said)
    return said


def spent(run: Run, comparison: ComparisonResult) -> tuple[Cost, float]:
    """The cost of all stages so far, reused ones as when they were made, and the gain in mean reward that it bought."""
    return total(list(costs(run.stages, run.settings.cost).values())), comparison.comparison.main.overall.gain


def _metrics(cost: Cost) -> dict[str, float]:
    metrics = {"cost/hours": cost.hours, "cost/lost_hours": cost.lost_hours, "cost/attempts": float(cost.attempts)}
    return metrics if cost.dollars is None else metrics | {"cost/usd": cost.dollars}


def _row(name: str, cost: Cost, reused: bool) -> dict[str, object]:
    return {
        "stage": name,
        "seconds": round(3600 * cost.hours, 1),
        "machine-hours": round(cost.hours, 3),
        "of them lost": round(cost.lost_hours, 3),
        "attempts": cost.attempts,
        "USD": "no price" if cost.dollars is None else round(cost.dollars, 2),
        "reused": reused,
    }
