"""`tucano serve` as the clients of others see it: the openai package and LangChain, over HTTP, on this machine."""

from collections.abc import Iterator

import httpx
import pytest
from openai import BadRequestError, OpenAI

from benchmarks.serve_load import Served, packed, registered, serving
from tucano.tracking import Tracker

TOKENS = 48
ASKED = [{"role": "user", "content": "Crie um push para o fone Bluetooth."}]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    place = tmp_path_factory.mktemp("clients")
    packed(place, 1, TOKENS)
    registered(Tracker.connect(None, place / "runs"), place, 1)
    with serving(place / "runs", "model.max_length_tokens=512") as running:
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
    with pytest.raises(BadRequestError, match="stream_options: it is for streams"):
        client.chat.completions.create(model="tucano", messages=ASKED, stream_options={"include_usage": True})


def test_who_leaves_a_stream_before_its_first_piece_frees_the_place(served: Served, client: OpenAI) -> None:
    with pytest.raises(Exception, match="timed out"):
        client.with_options(timeout=0.001).chat.completions.create(model="tucano", messages=ASKED, stream=True)
    headers = {"Authorization": f"Bearer {served.token}"}
    assert "tucano_waiting 0.0" in httpx.get(f"{served.url}/metrics", headers=headers).text
    assert client.chat.completions.create(model="tucano", messages=ASKED).choices
