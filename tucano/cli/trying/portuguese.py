"""The English sentences of components, facts and faults as the page says them: `portuguese.json` beside this file."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path


@cache
def sentences() -> Mapping[str, str]:
    """{English sentence: Portuguese one}: by sentence, since components of one name mean other things in other sets."""
    found: dict[str, str] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    return found


def said(sentence: str) -> str:
    """In Portuguese; the sentence itself where somebody's own component has none."""
    return sentences().get(sentence, sentence)
