"""Completions that are held to a JSON schema while they are drawn, or drawn with a seed of their own, or after others."""

import json
from typing import Any

import pytest
import torch
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast

from tucano.artifacts.identity import SHIPPED
from tucano.errors import WorkerFailed
from tucano.serving.answers import Refused
from tucano.serving.requests import ResponseFormat
from tucano.serving.schema import fault_of, form_of
from tucano.settings import ModelSettings
from tucano.specs.registry import spec_of
from tucano.training.answering.child import Answerer
from tucano.training.answering.messages import Question
from tucano.training.policies.nano import build_model, build_tokenizer
from tucano.training.policies.reading import Reader
from tucano.training.samplers import Decoding
from tucano.training.samplers.local import LocalSampler

SETTINGS = ModelSettings(max_length_tokens=512)
TEXTS = ["fone com frete grátis", "caixa quebrada", "a", "um texto mais longo que os outros três, com vírgulas"]
PERSON = {
    "type": "object",
    "properties": {"nome": {"type": "string", "maxLength": 4}, "nota": {"enum": [1, 2, None]}},
    "required": ["nome", "nota"],
    "additionalProperties": False,
}
FORM = json.dumps(PERSON)


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return build_tokenizer(TEXTS, SETTINGS)


@pytest.fixture(scope="module")
def policy(tokenizer: PreTrainedTokenizerFast) -> Any:
    return build_model(tokenizer, SETTINGS, 3).eval()


def drawn(policy: Any, tokenizer: Any, form: str | None, temperature: float, own_decoding: bool = True) -> list[str]:
    sampler = LocalSampler(own_decoding, tokenizer=tokenizer)
    decoding = Decoding(40, temperature, (tokenizer.eos_token_id,), form)
    prompts = [tokenizer.encode(text) for text in TEXTS]
    draws = sampler.sample(policy, prompts, decoding, torch.Generator().manual_seed(5))
    return [str(tokenizer.decode(draw.tokens, skip_special_tokens=True)) for draw in draws]


@pytest.mark.parametrize("temperature", [0.0, 1.0, 2.0])
def test_every_draw_of_random_weights_is_true_to_the_schema(policy: Any, tokenizer: Any, temperature: float) -> None:
    for own_decoding in (True, False):
        for text in drawn(policy, tokenizer, FORM, temperature, own_decoding):
            found = json.loads(text)
            Draft202012Validator(PERSON).validate(found)
            assert "  " not in text and "\n" not in text, "one blank or none between the parts"


def test_an_answer_that_has_the_form_by_itself_is_not_changed_by_holding_it() -> None:
    """The shipped base writes no blanks: held to some, it fell from 142 right fields of 160 to 20."""
    place = str(SHIPPED["mini"])
    tokenizer, model = AutoTokenizer.from_pretrained(place), AutoModelForCausalLM.from_pretrained(place).eval()
    reviews = ["Chegou antes do prazo, adorei o vestido.", "O fone veio quebrado e ninguém responde.", "Bom produto."]
    chats = [
        [{"role": "system", "content": spec_of("extraction").system_prompt},
         {"role": "user", "content": f"Analise a avaliação e devolva o JSON: {review}"}]
        for review in reviews
    ]  # fmt: skip
    asked = tokenizer.apply_chat_template(chats, add_generation_prompt=True, return_dict=False)
    form = form_of("extraction", ResponseFormat(type="json_object"))
    free, held = (
        [
            tokenizer.decode(draw.tokens, skip_special_tokens=True)
            for draw in LocalSampler(tokenizer=tokenizer).sample(
                model, asked, Decoding(112, 0.0, (tokenizer.eos_token_id,), kept), torch.Generator()
            )
        ]
        for kept in (None, form)
    )
    assert held == free and [fault_of("extraction", text, form) for text in free] == [None] * 3


def test_the_own_loop_draws_greedily_what_transformers_does(policy: Any, tokenizer: Any) -> None:
    assert drawn(policy, tokenizer, FORM, 0.0) == drawn(policy, tokenizer, FORM, 0.0, own_decoding=False)


class Questions:
    """What a process answers to a batch in which some ask for a form."""

    def __init__(self, policy: Any, tokenizer: Any, sampler: Any = None) -> None:
        sampler = sampler or LocalSampler(tokenizer=tokenizer)
        reader, generator = Reader(tokenizer), torch.Generator().manual_seed(0)
        self.answerer = Answerer(policy, tokenizer, reader, sampler, generator, 512)

    def ask(self, *forms: str | None, **more: Any) -> list[Any]:
        asked = [
            Question("Diga.", text, 40, 0.0, "push", form, **more) for text, form in zip(TEXTS, forms, strict=False)
        ]
        return self.answerer.answer(asked)


def test_rows_of_a_batch_that_ask_for_no_form_are_drawn_as_if_nobody_did(policy: Any, tokenizer: Any) -> None:
    questions = Questions(policy, tokenizer)
    free, mixed = questions.ask(None, None, None), questions.ask(None, FORM, None)
    assert [mixed[0].text, mixed[2].text] == [free[0].text, free[2].text]
    Draft202012Validator(PERSON).validate(json.loads(mixed[1].text))


@pytest.mark.parametrize("fault", [WorkerFailed("HTTP 400"), ModuleNotFoundError("No module named 'llguidance'")])
def test_who_draws_and_does_not_take_a_form_refuses_that_question_alone(
    policy: Any, tokenizer: Any, fault: Exception
) -> None:
    class Formless(LocalSampler):
        def sample(self, policy: Any, prompts: Any, decoding: Decoding, generator: Any = None) -> Any:
            if decoding.form is not None:
                raise fault
            return super().sample(policy, prompts, decoding, generator)

    first, second = Questions(policy, tokenizer, Formless()).ask(None, FORM)
    assert first.refused is None and first.tokens_out > 0
    assert second.refused == f"no answer can be held to this form ({fault})"


def test_a_seed_gives_the_same_answer_alone_and_in_any_company(policy: Any, tokenizer: Any) -> None:
    asked = Questions(policy, tokenizer).answerer.answer
    seeded = [Question("Diga.", "fone", 40, 1.0, "push", seed=seed) for seed in (7, 8, -(2**63))]
    others = [Question("Diga.", text, 40, 1.0, "push") for text in TEXTS]
    alone = [asked([question])[0].text for question in seeded]
    assert len(set(alone)) == 3
    together = asked([*others, *seeded[::-1], seeded[0], others[0]])
    assert [drawn.text for drawn in together[4:8]] == [*alone[::-1], alone[0]]
    form = Question("Diga.", "fone", 40, 1.0, "push", FORM, seed=7)
    assert asked([form]) == asked([others[0], form])[1:]


def test_earlier_turns_pass_through_the_chat_template(policy: Any, tokenizer: Any) -> None:
    written = (
        "<|im_start|>system\nDiga.<|im_end|>\n<|im_start|>user\num<|im_end|>\n<|im_start|>assistant\ndois<|im_end|>\n"
        "<|im_start|>user\ntrês<|im_end|>\n<|im_start|>assistant\n"
    )
    stop = (tokenizer.eos_token_id,)
    (draw,) = LocalSampler().sample(policy, [tokenizer.encode(written)], Decoding(40, 0.0, stop))
    question = Question("Diga.", "três", 40, 0.0, "push", earlier=("um", "dois"))
    (found,) = Questions(policy, tokenizer).answerer.answer([question])
    assert found.text == str(tokenizer.decode(draw.tokens, skip_special_tokens=True)).strip()
    assert found.tokens_in == len(tokenizer.encode(written))


# --- the schemas of clients -----------------------------------------------------------------------


def wanted(schema: Any) -> ResponseFormat:
    return ResponseFormat(type="json_schema", json_schema={"name": "x", "schema": schema})


def deep(levels: int) -> Any:
    return {"type": "string"} if not levels else {"type": "array", "items": deep(levels - 1)}


REFUSED = {
    "no schema": (["object"], "is no JSON schema; send an object"),
    "what steers the library": ({"x-guidance": {"lenient": True}}, "is no JSON schema; send an object"),
    "what nobody can follow": ({"not": {"type": "string"}}, 'Unimplemented keys: ["not"]'),
    "a place elsewhere": ({"$ref": "http://127.0.0.1:9/a"}, "does not fetch resources"),
    "a file": ({"$ref": "file:///etc/passwd"}, "does not fetch resources"),
    "a contradiction": ({"type": "integer", "minimum": 3, "maximum": 2}, "minimum (3) is greater than maximum (2)"),
    "an unknown type": ({"type": "strin"}, "Invalid type: strin"),
    "a look ahead": ({"type": "string", "pattern": "^(?=a)b$"}, "regex parse error"),
    "a circle": ({"$ref": "#"}, "no text has that form"),
    "too long": ({"enum": ["x" * 20_000]}, "it has more than 16384 bytes"),
    "too deep": (deep(200), "recursion limit exceeded"),
    "much too deep": (deep(450), "recursion limit exceeded"),
}


@pytest.mark.parametrize(("schema", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_a_schema_that_cannot_be_followed_is_refused_in_one_sentence(schema: Any, said: str) -> None:
    with pytest.raises(Refused) as refused:
        form_of("push", wanted(schema))
    assert said in str(refused.value) and "\n" not in str(refused.value)


def test_without_the_library_a_form_is_refused_with_its_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "llguidance", None)
    with pytest.raises(Refused, match=r"pip install 'tucano-commerce\[serve\]'"):
        form_of("push", wanted(PERSON))
    assert form_of("push", ResponseFormat(type="text")) is None


TRUE_TO = {
    '{"nome": "Ana", "nota": 1}': True,
    ' {"nome":"","nota":null}\n': True,
    '{"nome": "Maria", "nota": 1}': False,
    '{"nome": "Ana", "nota": 3}': False,
    '{"nome": "Ana", "nota": 1': False,
    '{"nome": "Ana", "nota": 1} e mais': False,
    '{"nome": "Ana", "nota": 1, "x": 2}': False,
    "nem JSON": False,
}


@pytest.mark.parametrize("text", TRUE_TO)
def test_an_answer_is_held_against_the_schema(text: str) -> None:
    """Whoever gave it: rules and endpoints draw as they like."""
    assert (fault_of("push", text, form_of("push", wanted(PERSON))) is None) == TRUE_TO[text]


def test_a_pattern_that_backtracks_elsewhere_holds_nobody_up() -> None:
    form = form_of("push", wanted({"type": "string", "pattern": "^(a+)+$"}))
    assert fault_of("push", json.dumps("a" * 5000 + "!"), form) is not None
