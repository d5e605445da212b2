"""Results as JSON files: frozen dataclasses written whole, and read back with every type checked."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from tucano.errors import UserError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")


def write_record(path: Path, value: "DataclassInstance") -> None:
    """Numbers that JSON has no name for (infinity, not a number) are an error, not a value."""
    path.write_text(json.dumps(asdict(value), indent=1, ensure_ascii=False, allow_nan=False), encoding="utf-8")


def read_record(kind: type[T], path: Path) -> T:
    """UserError for a file that another version of this program has written."""
    try:
        return parsed(kind, json.loads(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UserError(
            f"{path} was made by another version of this program ({place}: {first['msg']}); run the pipeline again"
        ) from None


def parsed(kind: type[T], value: Any) -> T:
    """`value`, as JSON gives it, as a `kind`. ValidationError where it is none."""
    return TypeAdapter(kind).validate_python(value)
