"""Whether an answer is one that its task allows: JSON tasks name their fields and what each may hold. Or one that the
request's own JSON schema allows, which llguidance (the extra `serve`) reads: its patterns take linear time, and it
fetches nothing.
"""

import json
from functools import cache
from typing import Any

from tucano.prompts import Task
from tucano.security.printable import short
from tucano.serving.answers import Refused
from tucano.serving.requests import ResponseFormat
from tucano.specs.registry import schema_of, spec_of
from tucano.truth.json_object import strict_object

FAULTS = (
    EMPTY := "the answer is empty",
    NO_OBJECT := "the answer is not one JSON object and nothing else",
    MISSING := "the field {} is missing",
    UNKNOWN := "{} is no field of {}",
    WRONG := "{} has a value that no answer may have: {}",
)


def data_of(task: Task, text: str) -> dict[str, Any] | None:
    """The object that an answer is, where its task asks for one and it is nothing else."""
    return _object_of(text) if spec_of(task).fields else None


def _object_of(text: str) -> dict[str, Any] | None:
    return strict_object(text.removeprefix("\ufeff"))


def fault_of(task: Task, text: str, form: str | None = None) -> str | None:
    """Why an answer cannot be used as it is; None where nothing is wrong with its form, which is the task's unless the
    request names another (`form_of`).
    """
    if form is not None and text.strip():
        return None if _has(form, text.strip().encode()) else "the answer does not have the form of response_format"
    found = fault(task, text)
    return None if found is None else found[0].format(*found[1:])


def fault(task: Task, text: str) -> tuple[str, ...] | None:
    """What is wrong with the form that its task asks for, as one of `FAULTS` and what stands in it."""
    fields = spec_of(task).fields
    if not text.strip():
        return (EMPTY,)
    if not fields:
        return None
    found = _object_of(text)
    if found is None:
        return (NO_OBJECT,)
    if missing := [name for name in fields if name not in found]:
        return MISSING, missing[0]
    if unknown := [name for name in found if name not in fields]:
        return UNKNOWN, short(unknown[0]), task
    wrong = next((name for name, kind in fields.items() if not kind.allows(found[name])), None)
    return None if wrong is None else (WRONG, wrong, short(repr(found[wrong])))


MOST_SCHEMA_BYTES = 16_384
LIMITS = {"initial_lexer_fuel": 200_000, "max_grammar_size": 100_000, "verbose_errors": False}
"""Of llguidance's work over a schema: some hundredths of a second."""


def form_of(task: Task, wanted: ResponseFormat | None) -> str | None:
    """The JSON schema of a request's `response_format`; the task's own, or any object, for `json_object`. Refused for
    one that no answer can be held to.
    """
    if wanted is None or wanted.type == "text":
        return None
    schema: Any = schema_of(task) or {"type": "object"}
    if wanted.type == "json_schema":
        schema = (wanted.json_schema or {}).get("schema")
    if not isinstance(schema, dict) or "x-guidance" in schema:
        raise Refused('response_format.json_schema.schema is no JSON schema; send an object, like {"type": "object"}')
    try:
        form = json.dumps(schema)
        fault = "" if len(form) <= MOST_SCHEMA_BYTES else f"it has more than {MOST_SCHEMA_BYTES} bytes"
        fault = fault or _unfollowable(_grammar(form))
    except ImportError:
        raise Refused("response_format needs llguidance on this server: pip install 'tucano-commerce[serve]'") from None
    except (ValueError, RecursionError) as error:
        fault = str(error)
    if fault:
        raise Refused(f"the schema of response_format cannot be followed: {short(fault)}; send a simpler one")
    return form


def _unfollowable(matcher: Any) -> str:
    """Why no text has this form, or ""; `{"$ref": "#"}` is one that nothing begins."""
    fault = str(matcher.get_error())
    return fault or ("" if any(matcher.compute_logit_bias()[:256]) else "no text has that form")


def _has(form: str, text: bytes) -> bool:
    matcher = _grammar(form)
    return matcher.try_consume_tokens(list(text)) == len(text) and matcher.is_accepting()


def _grammar(form: str) -> Any:
    """What reads a text of this form, byte by byte."""
    from llguidance import LLMatcher, LLParserLimits

    grammar = LLMatcher.grammar_from_json_schema(form)
    return LLMatcher(_bytes(), grammar, log_level=0, limits=LLParserLimits(**LIMITS))


@cache
def _bytes() -> Any:
    """A vocabulary that begins with the 256 bytes."""
    from llguidance import LLTokenizer

    return LLTokenizer("byte")
