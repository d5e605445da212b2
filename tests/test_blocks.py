"""Fields of an answer: what each is worth, and which tokens wrote it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import PreTrainedTokenizerBase

from rewards import field_scores
from tucano.prompts import Prompt
from tucano.settings import ModelSettings
from tucano.training.policies.nano import build_tokenizer
from tucano.training.rollouts.blocks import blocks_of

FIELDS = {"sentiment": "negative", "sentiment_score": 2, "main_complaint": None, "summary": "Ruim."}
PROMPT = Prompt("p", "extraction", "Veio quebrado, 2 estrelas.", "t", "test", "own", reference={"fields": FIELDS})
GOOD = '{"sentiment": "negative", "sentiment_score": 3, "summary": "Caixa de emoção 😢"}'


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerBase:
    return build_tokenizer([GOOD, PROMPT.user], ModelSettings(nano_vocabulary=300))


def test_fields_are_scored_and_placed_one_by_one() -> None:
    """Negative is right; 3 stars are one off; the complaint is missing; a summary is not judged."""
    assert [(field.name, field.value, GOOD[field.start : field.end]) for field in field_scores(PROMPT, GOOD)] == [
        ("sentiment", 1.0, '"sentiment": "negative"'), ("sentiment_score", 0.5, '"sentiment_score": 3'),
        ("main_complaint", 0.0, ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('{"sentiment": "negative", "sentiment": "negative"}', ""),  # twice
        ('{"sentiment": ["negative"]}', ""),
        ('{"sentiment" : "negative"', '"sentiment" : "negative"'),  # cut off behind it
        ("Nada.", ""),
        ("", ""),
    ],
)
def test_a_field_that_is_not_plainly_there_has_no_place(answer: str, expected: str) -> None:
    field = field_scores(PROMPT, answer)[0]
    assert answer[field.start : field.end] == expected


@given(st.text(max_size=80))
def test_no_text_is_too_odd(text: str) -> None:
    for answer in (text, f'{{"sentiment": "{text}"}}'):
        for field in field_scores(PROMPT, answer):
            assert 0 <= field.value <= 1 and 0 <= field.start <= field.end <= len(answer)


@given(data=st.data())
def test_sampled_tokens_of_any_kind_keep_their_places(data: st.DataObject, tokenizer: PreTrainedTokenizerBase) -> None:
    """Bytes that are no character, before and behind the fields: their tokens still read as the fields."""
    ids = tokenizer.encode(GOOD)
    found = [tokenizer.decode(ids[one.start : one.end]) for one in blocks_of(tokenizer, PROMPT, ids, GOOD)]
    assert "negative" in found[0] and "score" not in found[0] and "3" in found[1] and found[2] == ""
    odd = st.lists(st.integers(3, 258), max_size=6)
    before, behind = data.draw(odd), data.draw(odd)
    ids = [*before, *tokenizer.encode(GOOD), *behind]
    for block in blocks_of(tokenizer, PROMPT, ids, tokenizer.decode(ids)):
        assert 0 <= block.start <= block.end <= len(ids)
        text = tokenizer.decode(ids[block.start : block.end])
        assert not text or text in GOOD
