"""`tucano serve` as the clients of others see it: the openai package and LangChain, over HTTP, on this machine."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import httpx
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from langchain_openai import ChatOpenAI
from openai import APITimeoutError, LengthFinishReasonError, OpenAI
from pace import until
from pydantic import BaseModel, Field

from benchmarks.serve_load import Served, packed, registered, rows_of, serving
from data.own import command
from data.prepare import prepare
from tucano.errors import UserError
from tucano.serving.schema import fault_of
from tucano.settings.data import PromptPlan
from tucano.specs.registry import spec_of
from tucano.tracking import Tracker

TOKENS = 160
ASKED = [{"role": "user", "content": "Crie um push para o fone Bluetooth."}]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    place = tmp_path_factory.mktemp("clients")
    packed(place, 1, TOKENS)
    registered(Tracker.connect(None, place / "runs"), place, 1)
    with serving(place / "runs", "model.max_length_tokens=512", "serving.routes={}") as running:
        yield running


@pytest.fixture(scope="module")
def client(served: Served) -> OpenAI:
    return OpenAI(base_url=f"{served.url}/v1", api_key=served.token, max_retries=0, timeout=120)


def test_a_stream_is_the_same_answer_in_pieces(client: OpenAI) -> None:
    whole = client.chat.completions.create(model="tucano:push", messages=ASKED)
    chunks = list(
        client.chat.completions.create(
            model="tucano:push", messages=ASKED, stream=True, stream_options={"include_usage": True}
        )
    )
    *said, usage = chunks
    text = "".join(chunk.choices[0].delta.content or "" for chunk in said)
    assert text == whole.choices[0].message.content and len(said) > 3
    ends = [chunk.choices[0].finish_reason for chunk in said]
    assert ends == [None] * (len(said) - 1) + [whole.choices[0].finish_reason]
    assert usage.choices == [] and usage.usage == whole.usage
    assert len({chunk.id for chunk in chunks}) == 1 and said[0].choices[0].delta.role == "assistant"


def test_who_leaves_a_stream_before_its_first_piece_frees_the_place(served: Served, client: OpenAI) -> None:
    with pytest.raises(APITimeoutError):
        client.with_options(timeout=0.05).chat.completions.create(model="tucano", messages=ASKED, stream=True)
    headers = {"Authorization": f"Bearer {served.token}"}
    until(lambda: "tucano_waiting 0.0" in httpx.get(f"{served.url}/metrics", headers=headers).text)
    assert client.chat.completions.create(model="tucano", messages=ASKED).choices


# --- response_format ------------------------------------------------------------------------------


class Review(BaseModel):
    """As somebody has it in their own code; pydantic makes `$defs`, `anyOf` and titles of it."""

    class Part(BaseModel):
        name: Literal["fone", "caixa", "câmera"]
        grade: int = Field(ge=1, le=5)

    sentiment: Literal["bom", "ruim"]
    parts: list[Part] = Field(min_length=1, max_length=2)
    note: str | None = Field(max_length=6)


PROMPTS = [f"{number}: {text}" for number, (_, text) in enumerate(rows_of(10))]


def test_ten_prompts_get_answers_that_are_true_to_the_schema(client: OpenAI) -> None:
    """Held against it by another library than the one that draws; the model alone writes nothing like it."""
    schema: dict[str, Any] = Review.model_json_schema()
    for temperature, prompt in zip([0.0, 1.0] * 5, PROMPTS, strict=True):
        asked: Any = {"messages": [{"role": "user", "content": prompt}], "temperature": temperature}
        parsed = client.chat.completions.parse(model="tucano:push", response_format=Review, **asked)
        (choice,) = parsed.choices
        assert isinstance(choice.message.parsed, Review) and choice.finish_reason == "stop"
        Draft202012Validator(schema).validate(json.loads(choice.message.content or ""))
        free = client.chat.completions.create(model="tucano:push", **asked)
        with pytest.raises(ValueError):
            json.loads(free.choices[0].message.content or "")


def test_any_object_is_that_of_the_task_where_it_has_one(client: OpenAI) -> None:
    asked: Any = {"messages": ASKED, "response_format": {"type": "json_object"}}
    (judged,) = client.chat.completions.create(model="tucano:sentiment", **asked).choices
    assert fault_of("sentiment", judged.message.content or "") is None
    any_object = client.chat.completions.create(model="tucano:push", **asked, max_tokens=TOKENS - 1).choices[0]
    assert any_object.finish_reason == "length" or isinstance(json.loads(any_object.message.content or ""), dict)


def test_what_the_ceiling_cuts_is_said_to_be_cut(client: OpenAI) -> None:
    """As OpenAI does it: the package raises, and who reads the answer itself sees why it is not whole."""
    with pytest.raises(LengthFinishReasonError):
        client.chat.completions.parse(model="tucano:push", messages=ASKED, response_format=Review, max_tokens=5)


def test_langchain_reads_streams_and_objects(served: Served) -> None:
    key: Any = served.token
    chat = ChatOpenAI(model="tucano:push", base_url=f"{served.url}/v1", api_key=key, max_retries=0, temperature=0)
    text = "Crie um push para o fone Bluetooth."
    assert "".join(str(chunk.content) for chunk in chat.stream(text)) == chat.invoke(text).content
    assert chat.invoke([("user", text), ("assistant", "Corre!"), ("user", "Mais curto.")]).content
    reviewing = chat.with_structured_output(Review, method="json_schema")
    *_, last = reviewing.stream(text)
    assert isinstance(reviewing.invoke(text), Review) and isinstance(last, Review)
    judge = chat.model_copy(update={"model_name": "tucano:sentiment"})
    found = judge.with_structured_output(None, method="json_mode").invoke(text)
    assert set(found) == set(spec_of("sentiment").fields)


def test_a_served_champion_makes_demonstrations_as_the_help_says(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mix = {"extraction": 0.5, "push": 0.5, "sql_qa": 0, "insights": 0, "sentiment": 0, "churn": 0}
    plan = PromptPlan.model_validate({"train_prompts": 40, "demonstrations": 40, "mix": mix})
    prepare(plan, 7, ("extraction", "push"), tmp_path)
    monkeypatch.setenv("SHOP_TOKEN", served.token)
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    words = ["make", str(tmp_path), str(tmp_path / "made.jsonl"), "--endpoint", f"{served.url}/v1", "--model", "tucano"]
    more = ["--key-env", "SHOP_TOKEN", "--licence", "CC0-1.0", "--task", "push", "--count", "2", "--samples", "1"]
    with pytest.raises(UserError, match=rf"at most {TOKENS} tokens; ask for no more.*--tokens"):
        command.main(parser.parse_args([*words, *more]))
    assert command.main(parser.parse_args([*words, *more, "--tokens", str(TOKENS)])) == command.NONE_USABLE
