"""JSON of others: what two programs would read in two ways is none."""

import json
from math import isfinite
from typing import Any

NUMBER = "a number is too long, or none"


class NoJson(ValueError):
    """Why a text is none; goes on from «line 7: »."""


def strict_json(text: str) -> Any:
    """The value of a JSON text. NoJson for one that is none."""
    try:
        return json.loads(text, parse_constant=_finite, parse_float=_finite, object_pairs_hook=_once)
    except RecursionError:
        raise NoJson("the JSON is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise NoJson(f"the JSON cannot be read ({error.msg}, column {error.colno})") from None
    except NoJson:
        raise
    except ValueError:  # of an integer that is too long
        raise NoJson(NUMBER) from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of a name that an object gives two values, Python would keep the last and others the first."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise NoJson("a name is given twice in an object; leave one of its values out")
    return found


def _finite(number: str) -> float:
    if not isfinite(value := float(number)):  # NaN, Infinity, 1e999
        raise NoJson(NUMBER)
    return value
