"""Settings of the benchmark: `benchmark.*`."""

from collections.abc import Iterator

from pydantic import Field, NonNegativeInt, PositiveInt

from tucano.prompts import Task
from tucano.security.texts import ArmName, Line
from tucano.settings.base import RewardSetName, Section
from tucano.settings.comparison import Asking
from tucano.settings.data import PromptPlan
from tucano.settings.endpoint import Endpoint, EndpointSettings


class BenchmarkPlan(Section):
    """Which prompts the benchmark asks."""

    prompts: int = Field(130, ge=80, le=100_000, description="Generated prompts over all tasks.")
    reviews: NonNegativeInt = Field(
        100, le=1_000_000, description="Real reviews of each of these sources, as far as there are unseen ones."
    )


class PublicPlaces(Section):
    """Where benchmarks that others wrote lie on this machine; none is shipped and none is downloaded."""

    spider_pt: Line | None = Field(
        None, description="Folder of Spider in Portuguese (dev.jsonl, tables.json): SQL, by what it gives."
    )
    enem: Line | None = Field(None, description="Folder of ENEM (20*.json, 20*.jsonl): the likeliest of five options.")
    faquad: Line | None = Field(None, description="Folder of FaQuAD (dev.json): answers that stand in a text.")

    @property
    def named(self) -> dict[str, str]:
        """{benchmark: its folder}, of those that are named."""
        places = {"spider_pt": self.spider_pt, "enem": self.enem, "faquad": self.faquad}
        return {name: place for name, place in places.items() if place is not None}


class BenchmarkSettings(BenchmarkPlan, PublicPlaces):
    """Judging by ground truth that no reward knows: `tucano benchmark`."""

    olist: Line | None = Field(None, description="Folder of Olist CSVs: real reviews, their stars as silver labels.")
    b2w: Line | None = Field(
        None, description="B2W CSV: real reviews, stars as silver labels, human tags for the issues."
    )
    samples: PositiveInt = Field(
        4, le=1000, description="Sampled answers per prompt (T=1): how sure a model is of churn."
    )
    adapters: dict[ArmName, Line] = Field(
        {}, max_length=100, description="Further local arms: name and folder of a model or of a LoRA adapter."
    )
    endpoints: tuple[EndpointSettings, ...] = Field((), max_length=100, description="Further arms behind an API.")
    judge: Line | None = Field(None, description="Name of the endpoint that also rates insights from 1 to 5, blind.")
    allow_external: bool = Field(False, description="Let prompts leave this machine for endpoints that are not on it.")
    resamples: PositiveInt = Field(
        400, le=100_000, description="Bootstrap resamples of the prompts, for the intervals."
    )

    def _faults(self) -> Iterator[str]:
        names = [*self.adapters, *(endpoint.name for endpoint in self.endpoints)]
        taken = {"base", "sft", "seeds", "constant", "majority", "rules"}
        for name in names:
            if names.count(name) > 1 or name in taken or name.startswith("seed-"):
                yield f"benchmark has two arms called {name}; give the adapter or endpoint another name"
        if self.judge is not None and self.judge not in [endpoint.name for endpoint in self.endpoints]:
            yield f"benchmark.judge={self.judge} names no endpoint; add it to benchmark.endpoints"


class BenchmarkSetStage(Section):
    """What the benchmark's prompts follow from, beside the prompt set and the files of real reviews."""

    benchmark: BenchmarkPlan
    data: PromptPlan
    tasks: tuple[Task, ...]
    seed: int


class PublicSetStage(Section):
    """What the public benchmarks' questions follow from, beside their files: the seed of Spider's databases."""

    benchmarks: tuple[str, ...]
    seed: int


class BaselinesStage(Section):
    """What scores the baselines."""

    rewards: RewardSetName


class EndpointStage(Section):
    """What an API's answers follow from, beside the questions."""

    comparison: Asking
    endpoint: Endpoint
    max_completion_tokens: int
    seed: int


class JudgeStage(Section):
    """What the judge's ratings follow from, beside the answers."""

    judge: Endpoint
    seed: int


class PublicStage(Section):
    """What the tables of public benchmarks follow from, beside the answers; `reference` is what tuned arms started
    from.
    """

    alpha: float
    resamples: int
    reference: str | None
    seed: int


class BenchmarkStage(PublicStage):
    """What the benchmark's own table follows from as well. usd_per_hour: {machine: its price}."""

    usd_per_hour: dict[str, float]
