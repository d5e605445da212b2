"""Where a stage stands on the way from data to the report, for whoever waits."""

from tucano.settings import PipelineSettings


def stages_of(settings: PipelineSettings) -> tuple[str, ...]:
    """The stages of a train run, in the order in which they begin. Beside these a run may make smaller ones."""
    seeds = [f"grpo-seed-{seed}" for seed in settings.grpo.seeds]
    sft = ["sft"] if settings.sft.enabled else []
    ends = ["answers", "re-audit", "comparison", "merged", "report"]
    return ("data", "plan", "audit", *sft, "preflight", *seeds, *ends)


def place(stage: str, settings: PipelineSettings) -> str:
    """` (stage 3 of 12, then sft)`; empty for one beside the way.

    >>> place("audit", PipelineSettings())
    ' (stage 3 of 13, then sft)'
    """
    way = stages_of(settings)
    if stage not in way:
        return ""
    number = way.index(stage) + 1
    then = f", then {way[number]}" if number < len(way) else ", the last"
    return f" (stage {number} of {len(way)}{then})"
