"""What a task of the product consists of. One file per task in this folder fills a `TaskSpec`; only its reward
formulas stand in rewards/, and its truth in tucano/truth/tasks/.

Whoever needs something of a task asks its spec (`tucano.specs.registry.spec_of`): nothing else knows how many tasks
there are.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Annotated, Any, ClassVar, Protocol, Self, get_type_hints

from pydantic import BaseModel, ConfigDict, JsonValue, field_validator

from tucano.errors import UserError
from tucano.prompts import Prompt
from tucano.specs.banks import Pool, Reword
from tucano.specs.objects import Field, require_possible
from tucano.specs.scoring import Case


class Answer(Protocol):
    """A worked answer in a form that defects can be put into before it becomes text."""

    def text(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Drawn:
    """A prompt's text with what is true about it and a good answer to it.

    `invented`: it is made up whatever source is in use, so that neither the source's name nor its licence holds for it.
    `reword`: makes other wordings of a known prompt, of which the same is true; None where nobody can.
    """

    user: str
    template: str
    reference: dict[str, Any]
    answer: Answer
    stars: int | None = None
    invented: bool = False
    reword: Reword | None = None


@dataclass(frozen=True)
class Review:
    """A review that the generator wrote: what it says (`text`, made of the templates `phrases`) and the ten true
    fields, in the order of the answer.

    `user` is the text in an envelope that may state its stars, `template` the parts of both. `reword` gives it another
    envelope that states as much.
    """

    user: str
    template: str
    text: str
    phrases: str
    stars: int
    fields: dict[str, Any]
    reword: Reword | None = None


class Reference(BaseModel):
    """What `Prompt.reference` holds of a task, with types: references of rating folders may come from anybody.
    Further fields are kept."""

    model_config = ConfigDict(strict=True, extra="allow")


class FieldsReference(Reference):
    """Of a task that is answered with one JSON object: true values of its fields, those of `known`. `all_of_them`:
    either none is given or each is.
    """

    known: ClassVar[Mapping[str, Field]]
    all_of_them: ClassVar[bool] = True
    fields: dict[str, JsonValue] = {}

    @field_validator("fields")
    @classmethod
    def _are_possible(cls, fields: dict[str, JsonValue]) -> dict[str, JsonValue]:
        require_possible(fields, cls.known, cls.all_of_them)
        return fields


class Material(Protocol):
    """What a source of data offers to make prompts of; a task takes what it needs, or makes its prompts alone."""

    def review(self, pool: Pool, rng: Random) -> Review: ...

    def question(self, pool: Pool, rng: Random) -> Drawn:
        """About the store, with its gold query."""

    def brief(self, pool: Pool, rng: Random) -> Drawn:
        """Figures of a period and segment, and a question about two of them."""

    def offer(self, pool: Pool, rng: Random) -> Drawn:
        """A product to be advertised."""


@dataclass(frozen=True, slots=True)
class Probes:
    """Answers that no one can use, whatever the prompt: words strung together, a beginning repeated `times` times, an
    answer in English.

    `more`: further kinds of worthless answers of this task.
    """

    stuffing: str
    repeated: str
    english: str
    times: int = 60
    more: Mapping[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Baseline:
    """Arms without a model: one answer for everything; the most frequent of the training prompts; a page of rules
    made from them.

    The two functions get the task's own training prompts, possibly none.
    """

    constant: str
    majority: Callable[[Sequence[Prompt]], str]
    rules: Callable[[Sequence[Prompt]], Callable[[Prompt], str]]


@dataclass(frozen=True, slots=True)
class Scorer:
    """The benchmark's ground truth: facts of (prompt, served answer, sampled answers, databases), and metrics over
    all of them.

    Every metric's name begins with the task's. `columns`: {title of a table: the metrics that it shows}.
    """

    read: Callable[[Prompt, str, Sequence[str], Path], Case]
    metrics: Callable[[Sequence[Case]], dict[str, float]]
    columns: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Display:
    """How people see the task: its name for raters, the section of docs/rating-guide.pt.md, what stands beside its
    answers."""

    name: str
    guide: str
    as_code: bool = False
    with_tables: bool = False


@dataclass(frozen=True, kw_only=True)
class TaskSpec:
    """One task in one place. UserError names the task and the part where one of the parts is missing or empty."""

    name: Annotated[str, "its name, that of its file"]
    system_prompt: Annotated[str, "what a model is told before each prompt"]
    judged: Annotated[float, "how many of the judged prompts it gets, where the report's four tasks share 65"]
    reference: Annotated[type[Reference], "what `Prompt.reference` holds of it, with types"]
    draw: Annotated[
        Callable[[Material, Pool, Random], Drawn], "makes a prompt, its truth and a good answer of a source's material"
    ]
    defects: Annotated[tuple[Callable[[Any, Random], Any], ...], "the documented defects of demonstrations"]
    probes: Annotated[Probes, "answers that no one can use"]
    baseline: Annotated[Baseline, "the arms without a model"]
    scorer: Annotated[Scorer, "the benchmark's ground truth"]
    display: Annotated[Display, "how people see it"]

    fields: Mapping[str, Field] = field(default_factory=dict)
    """Of a task that is answered with one JSON object: its fields, in order. The audit then asks what one may ask of
    objects."""
    most_defects: int = 2
    """Defects that one demonstration may have."""
    most_unread: float = 0.6
    """The reward that an answer may earn in the mean that does not read its prompt."""
    thought: Callable[[Prompt], list[str]] = lambda prompt: []
    """The steps of a short thought that leads to the answer of a prompt whose truth is known."""
    right_answers: Callable[[Prompt], list[str]] = lambda prompt: []
    """Answers made of a prompt's truth, where that is a whole answer and no object."""

    def __new__(cls, **parts: Any) -> Self:
        hints = get_type_hints(cls, include_extras=True)
        for name, (meaning,) in (
            (name, hint.__metadata__) for name, hint in hints.items() if hasattr(hint, "__metadata__")
        ):
            if not parts.get(name):
                task = parts.get("name") or "without a name"
                raise UserError(f"the task {task} has no `{name}` ({meaning}); add it to the task's TaskSpec")
        return super().__new__(cls)
