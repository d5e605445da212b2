"""Settings of the data: `data.*`."""

from collections.abc import Iterator
from os.path import normpath
from typing import Literal

from pydantic import Field, NonNegativeInt, PositiveInt, field_validator

from tucano.prompts import Task
from tucano.security.texts import Line
from tucano.settings.base import Section, Share

SMALLEST_STRATUM = 5
"""Fewer prompts of a task than this cannot be compared: an exact one-sided signed-rank test of 4 cannot reach p <
.05.
"""
SLACK = 1e-6
"""What shares that add up to 1 may miss it by."""
UNREADABLE = 0.01
"""Share of a file's rows."""


SourceName = Literal["synthetic", "olist", "b2w", "jsonl"]

Style = Literal["plain", "natural"]

DEFAULT_MIX: dict[Task, float] = {"extraction": 0.4, "sql_qa": 0.4, "insights": 0.1, "push": 0.1}


class SourceShare(Section):
    """One of several sources."""

    source: SourceName = Field(description="As data.source.")
    share: Share = Field(1.0, gt=0, description="Share of it among the training prompts, kept within 2 %.")


class NamedSource(SourceShare):
    """One of several sources, with the place of its files."""

    path: Line | None = Field(None, description="As data.path.")

    def _faults(self) -> Iterator[str]:
        if self.source != "synthetic" and not self.path:
            yield f"data.source={self.source} needs data.path, the place of its files"
        if self.source == "synthetic" and self.path:
            yield "data.path is not read by data.source=synthetic; remove it, or name the source of the files"


class GeneralShare(Section):
    """How much of what SFT sees is ordinary Portuguese, against forgetting."""

    share: float = Field(0.0, ge=0, le=0.9, description="Share among the demonstrations of SFT; 0: none.")

    def beside(self, demonstrations: int) -> int:
        """How many general ones make up the share beside so many demonstrations of the tasks."""
        return round(demonstrations * self.share / (1 - self.share))


class GeneralSettings(GeneralShare):
    """General demonstrations, and where they are."""

    path: Line | None = Field(
        None, description="Own prompts of the task general; the 230 that come with Tucano when empty."
    )

    def _faults(self) -> Iterator[str]:
        if self.path and not self.share:
            yield "data.general.path is not read while data.general.share=0; give it a share, like 0.1"


class PromptPlan(Section):
    """Which prompts are made, and how many."""

    source: SourceName = Field(
        "synthetic", description="Generated data, Olist CSVs, a B2W CSV, or prompts of your own (jsonl)."
    )
    sources: tuple[SourceShare, ...] = Field(
        (), max_length=8, description="Several sources with their shares, instead of data.source and data.path."
    )
    unreadable: Share = Field(
        UNREADABLE,
        description="Share of a file's rows that may be unreadable; with more (and more than 20) it is refused.",
    )
    style: Style = Field(
        "plain", description="How generated prompts are written: in few templates, or as people write."
    )
    train_prompts: PositiveInt = Field(1480, le=1_000_000, description="Training prompts over all tasks.")
    validation_prompts: PositiveInt = Field(65, le=100_000, description="Prompts that choose the checkpoint.")
    test_prompts: PositiveInt = Field(
        65, le=100_000, description="Held-out prompts that judge; never used to choose anything."
    )
    demonstrations: NonNegativeInt = Field(
        3000, le=1_000_000, description="Worked answers for SFT, besides the prompts above."
    )
    defect_share: Share = Field(
        0.35, description="Share of demonstrations with a documented defect, as real ones have."
    )
    general: GeneralShare = Field(
        GeneralShare(), description="General Portuguese demonstrations mixed into SFT, against forgetting."
    )
    paraphrases: NonNegativeInt = Field(
        0, le=20, description="Further wordings of each training prompt, another in each epoch."
    )
    mix: dict[Task, Share] = Field(
        DEFAULT_MIX, description="Share of each task among the training prompts. Where one is 0, the others grow."
    )

    thinking: tuple[Task, ...] | None = Field(
        None, description="Tasks that are answered after a thought; null: the model cannot think."
    )

    @field_validator("mix")
    @classmethod
    def _is_scaled_where_a_task_is_dropped(cls, mix: dict[Task, float]) -> dict[Task, float]:
        """`data.mix.push=0` alone means the other tasks in their proportions, and without others those of the
        default.
        """
        if mix and not any(mix.values()):
            mix = {**DEFAULT_MIX, **mix}
        whole = sum(mix.values())
        if 0 < whole < 1 - SLACK and 0 in mix.values():
            return {task: share / whole for task, share in mix.items()}
        return mix

    @property
    def parts(self) -> tuple[SourceShare, ...]:
        """The sources; a single one is a list of one."""
        return self.sources or (SourceShare(source=self.source, share=1.0),)

    @property
    def supervised(self) -> int:
        """Demonstrations that SFT sees in an epoch, the general ones among them."""
        return self.demonstrations + self.general.beside(self.demonstrations)

    @property
    def label(self) -> str:
        """Like `jsonl+synthetic`."""
        return "+".join(part.source for part in self.parts)


class DataSettings(PromptPlan):
    """Where prompts come from and how many are made."""

    path: Line | None = Field(None, description="Folder (olist), or file or folder (b2w, jsonl), of the data.")
    sources: tuple[NamedSource, ...] = Field(
        (), max_length=8, description="Several sources, instead of data.source and data.path."
    )

    judge: Line | None = Field(
        None, description="File of judges of your own tone (tucano judge fit) that the truth asks."
    )
    general: GeneralSettings = Field(
        GeneralSettings(), description="General Portuguese demonstrations mixed into SFT, against forgetting."
    )

    def _faults(self) -> Iterator[str]:
        if self.paraphrases and all(part.source == "jsonl" for part in self.parts):
            yield (
                "data.paraphrases rewords frames that are known, and of your own prompts nobody knows what is frame"
                " and what content: set it to 0 and write further wordings as rows of your file"
            )
        whole = sum(self.mix.values())
        if not whole:
            yield "data.mix must add up to 1, and no task has a share"
        if abs(whole - 1) > SLACK:
            scaled = ", ".join(f"{task}: {share / whole:.4g}" for task, share in self.mix.items() if share)
            yield f"data.mix must add up to 1, it adds up to {whole:g}; in these proportions it is {{{scaled}}}"
        yield from self._unfit_sources()

    def _unfit_sources(self) -> Iterator[str]:
        names = [part.source for part in self.sources]
        if not names:
            NamedSource(source=self.source, path=self.path)
            return
        if self.source != "synthetic" or self.path:
            yield "data.sources names all sources; leave data.source and data.path out"
        if names.count("olist") > 1:
            yield "data.sources names olist twice, and a prompt set has one store; put the files together"
        places = [normpath(part.path) for part in self.sources if part.path]
        if twice := next((place for place in places if places.count(place) > 1), None):
            yield f"data.sources names {twice} twice; give it one share"
        if abs(sum(part.share for part in self.sources) - 1) > SLACK:
            whole = sum(part.share for part in self.sources)
            yield f"the shares of data.sources must add up to 1, they add up to {whole:g}"

    @property
    def paths(self) -> tuple[str | None, ...]:
        """The places of the sources' files."""
        return tuple(part.path for part in self.sources) or (self.path,)


class DataStage(Section):
    """What the prompt set follows from, beside the files at `data.path`."""

    data: PromptPlan
    tasks: tuple[Task, ...]
    seed: int
