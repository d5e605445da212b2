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
    found = field_scores(PROMPT, GOOD)
    assert [(field.name, field.value) for field in found] == [
        ("sentiment", 1.0),
        ("sentiment_score", 0.5),
        ("main_complaint", 0.0),
    ]
    assert [GOOD[field.start : field.end] for field in found] == [
        '"sentiment": "negative"',
        '"sentiment_score": 3',
        "",
    ]


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


def test_a_prompt_without_fields_has_no_blocks(tokenizer: PreTrainedTokenizerBase) -> None:
    free = Prompt("q", "push", "Tênis", "t", "test", "own", reference={"product": "tênis"})
    assert field_scores(free, GOOD) == [] and blocks_of(tokenizer, free, tokenizer.encode(GOOD), GOOD) == ()


@given(st.text(max_size=80))
def test_no_text_is_too_odd(text: str) -> None:
    for answer in (text, f'{{"sentiment": "{text}"}}'):
        for field in field_scores(PROMPT, answer):
            assert 0 <= field.value <= 1 and 0 <= field.start <= field.end <= len(answer)


def test_tokens_of_a_field_read_back_as_the_field(tokenizer: PreTrainedTokenizerBase) -> None:
    ids = [*tokenizer.encode(GOOD), tokenizer.eos_token_id]
    blocks = blocks_of(tokenizer, PROMPT, ids, GOOD)
    assert [block.value for block in blocks] == [1.0, 0.5, 0.0]
    texts = [tokenizer.decode(ids[block.start : block.end]) for block in blocks]
    assert "negative" in texts[0] and "score" not in texts[0]
    assert "3" in texts[1] and "summary" not in texts[1] and texts[2] == ""


@given(data=st.data())
def test_sampled_tokens_of_any_kind_keep_their_places(data: st.DataObject, tokenizer: PreTrainedTokenizerBase) -> None:
    """Bytes that are no character, before and behind the field: the field's tokens still read as the field."""
    odd = st.lists(st.integers(3, 258), max_size=6)
    before, behind = data.draw(odd), data.draw(odd)
    ids = [*before, *tokenizer.encode(GOOD), *behind]
    for block in blocks_of(tokenizer, PROMPT, ids, tokenizer.decode(ids)):
        assert 0 <= block.start <= block.end <= len(ids)
        text = tokenizer.decode(ids[block.start : block.end])
        assert not text or text in GOOD
