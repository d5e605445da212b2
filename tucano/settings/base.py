"""What all sections of the settings share."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self, TypeVar, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from tucano.security.addresses import SECRET

Share = Annotated[float, Field(ge=0, le=1)]
RewardSetName = Literal["v4.2", "grounded", "controls.random", "controls.format", "controls.length"]
Schedule = Literal["constant_with_warmup", "cosine", "linear"]


Seed = Annotated[int, Field(ge=0, lt=2**32)]
"""What NumPy, Python and torch all take."""

MOST = 2**32
"""Whole numbers beyond it overflow somewhere, hours later; no count is so large."""

NO_SECRETS = "credentials_belong_in_the_environment"
"""What Prefect's server says of settings that hold some."""
_HOLDS_ONE: dict[str, Any] = {"not": {"additionalProperties": {"not": {"type": "string", "pattern": SECRET}}}}


FIRST_IN_FORMS = ("grpo", "seeds", "learning_rate", "max_steps")
"""What people change most; the other settings follow in their declared order."""


def _for_forms(schema: dict[str, Any]) -> None:
    """Prefect's form shows the fields in the order of `position`; without it, in that of the length of their names."""
    schema |= {"if": _HOLDS_ONE, "then": {"required": [NO_SECRETS]}}
    fields = schema.get("properties", {})
    first = [name for name in FIRST_IN_FORMS if name in fields]
    for place, name in enumerate([*first, *(name for name in fields if name not in first)]):
        fields[name]["position"] = place


def _names(kind: Any, *parts: Any) -> bool:
    """Whether a field's type is one of `parts` or is made of one («int | None», «tuple[Seed, ...]»)."""
    return kind in parts or any(_names(part, *parts) for part in get_args(kind))


class Section(BaseModel):
    """Base of all settings: frozen; a field nobody knows and a number that is none are refused.

    So is a password in an address, where people give settings: by `PipelineSettings`, and before by Prefect. Its server
    stores the parameters of a run before this code sees them, but holds them against the JSON schema first: it refuses
    with the name of the property that the schema then asks for, and does not repeat the value.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, json_schema_extra=_for_forms)

    @field_validator("*", mode="before")
    @classmethod
    def _yes_is_no_number(cls, value: Any, info: ValidationInfo) -> Any:
        kind = cls.model_fields[str(info.field_name)].annotation
        if not _names(kind, int, float) or _names(kind, bool, Any):
            return value
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else [value]
        for part in parts:
            if isinstance(part, bool):
                raise ValueError(f"{info.field_name}: a number is asked for, not {str(part).lower()}")
            if isinstance(part, float) and not _names(kind, float):  # `1.000` is a thousand to some
                mend = "write it without a point" if part.is_integer() else "write one"
                raise ValueError(f"{info.field_name}: a whole number is asked for, not {part}; {mend}")
        return value

    @model_validator(mode="after")
    def _numbers_are_of_this_world(self) -> Self:
        for name, value in self:
            if isinstance(value, int) and abs(value) > MOST:
                raise ValueError(f"{name} has {len(str(abs(value)))} digits; more than {MOST} of anything is a slip")
        return self

    def _faults(self) -> Iterator[str]:
        """What does not go together, in sentences with the mend. The first one refuses the section."""
        return iter(())

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        if sentence := next(self._faults(), None):
            raise ValueError(sentence)
        return self


S = TypeVar("S", bound=Section)


def narrowed(kind: type[S], section: Section) -> S:
    """The part of `section` that `kind`, whose fields it has, knows: values that were checked already."""
    return cast("S", kind.model_construct(**{name: getattr(section, name) for name in kind.model_fields}))
