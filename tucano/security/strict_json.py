"""JSON of others: what two programs would read in two ways is none."""

import json
from math import isinf
from typing import Any


class NoJson(ValueError):
    """Why a text is none; goes on from «line 7: »."""


class _TwiceError(ValueError):
    """Of a name that an object gives two values, Python would keep the last and others the first."""


def strict_json(text: str) -> Any:
    """The value of a JSON text. NoJson for one that is none."""
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_once)
    except RecursionError:
        raise NoJson("the JSON is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise NoJson(f"the JSON cannot be read ({error.msg}, column {error.colno})") from None
    except _TwiceError:
        raise NoJson("a name is given twice in an object; leave one of its values out") from None
    except ValueError:
        raise NoJson("a number is too long, or none") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _TwiceError
    return found


def _finite(number: str) -> float:
    if isinf(value := float(number)):  # 1e999
        raise ValueError(number)
    return value


def _refuse(name: str) -> None:
    raise ValueError(name)
