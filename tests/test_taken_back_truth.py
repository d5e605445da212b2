"""What the truth makes of values of a wrong kind, of answers that take themselves back, and of good ones that only
sound like it."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rewards_examples import ANSWERS, PROMPTS, Prompt

from tucano.truth import truth

EXTRACTION = PROMPTS["extraction"]
UNSTARRED = replace(EXTRACTION, stars=None)
"""Here a reader has to guess how many stars there were."""

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["low", "negative", "sim"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)


@pytest.mark.parametrize("prompt", [EXTRACTION, UNSTARRED, PROMPTS["sentiment"], PROMPTS["churn"]])
@given(data=st.data())
def test_any_value_in_any_field_is_judged(prompt: Prompt, data: st.DataObject) -> None:
    fields = json.loads(ANSWERS[prompt.task])
    name = data.draw(st.sampled_from(sorted(fields)))
    answer = json.dumps(fields | {name: data.draw(JSON)}, ensure_ascii=data.draw(st.booleans()))
    assert 0 <= truth(prompt, answer) <= 1  # type: ignore[operator]


@pytest.mark.parametrize("value", [["low"], [], {}, {"a": 1}, 10**400, 1e999, float("nan"), True, None, "\ud83d"])
def test_a_risk_that_is_no_word_is_wrong(value: Any) -> None:
    fields = json.loads(ANSWERS["extraction"])
    right, wrong = (truth(UNSTARRED, json.dumps(fields | risk)) for risk in ({}, {"churn_risk": value}))
    assert wrong < right  # type: ignore[operator]
