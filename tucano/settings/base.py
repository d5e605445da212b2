"""What all sections of the settings share."""

from typing import TYPE_CHECKING, Annotated, Literal, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field

from tucano.prompts import TASKS

Share = Annotated[float, Field(ge=0, le=1)]
RewardSetName = Literal["v4.2", "grounded", "controls.random", "controls.format", "controls.length"]
if TYPE_CHECKING:
    TaskName = str
else:
    TaskName = Literal[TASKS]
Schedule = Literal["constant_with_warmup", "cosine", "linear"]


class Section(BaseModel):
    """Base of all settings: frozen, and a field nobody knows is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


S = TypeVar("S", bound=Section)


def narrowed(kind: type[S], section: Section) -> S:
    """The part of `section` that `kind`, a class that it inherits from, knows: values that were checked already."""
    return cast("S", kind.model_construct(**{name: getattr(section, name) for name in kind.model_fields}))
