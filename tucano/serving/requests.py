"""What clients may send, and what they get back: OpenAI's chat completions, as far as they make sense here, and our own
`/answer`.

A field that would do nothing is refused rather than ignored, unless its value asks for nothing.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from fastapi.responses import JSONResponse
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from tucano.prompts import Task


def _writable(text: str) -> str:
    """Text that files and tokenizers take."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("it holds half a character (a lone surrogate); send whole Unicode") from None
    if not text.strip():
        raise ValueError("it is empty")
    return text


def _joined(content: Any) -> Any:
    """OpenAI's content in parts, where all of them are texts."""
    if isinstance(content, list):
        if not content or not all(_is_text(part) for part in content):
            raise ValueError("only text is answered here; send a text, or parts of the type text")
        return "\n".join(part["text"] for part in content)
    return content


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str)


Text = Annotated[str, AfterValidator(_writable)]
Content = Annotated[Text, BeforeValidator(_joined)]
Temperature = Annotated[float, Field(strict=True, ge=0, le=2)]
Tokens = Annotated[int, Field(strict=True, ge=1, le=2**17)]
Seed = Annotated[int, Field(strict=True, ge=-(2**63), lt=2**63)]
Switch = Annotated[bool, Field(strict=True)]
Label = Annotated[str, Field(max_length=200)]

MOST_MESSAGES = 64
NEUTRAL: Mapping[str, Sequence[Any]] = {
    "n": (1,),
    "stop": ([],),
    "top_p": (1,),
    "presence_penalty": (0,),
    "frequency_penalty": (0,),
    "logit_bias": ({},),
    "logprobs": (False,),
    "top_logprobs": (0,),
    "tools": ([],),
    "tool_choice": ("none", "auto"),
    "parallel_tool_calls": (True, False),
    "functions": ([],),
    "function_call": ("none", "auto"),
    "prediction": (),
    "audio": (),
    "verbosity": ("medium",),
    "best_of": (1,),
    "top_k": (-1, 0),
    "min_p": (0,),
    "repetition_penalty": (1,),
    "modalities": (["text"],),
    "metadata": ({},),
    "service_tier": ("auto", "default"),
    "reasoning_effort": (),
}
"""What clients send by default: {field of OpenAI's, or vLLM's: values that ask for nothing}; null is one everywhere."""


def _asks_nothing(neutral: Sequence[Any] | None, value: Any) -> bool:
    if neutral is None:
        return False
    return value is None or any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in neutral)


class Sent(BaseModel):
    """Base of all that clients send."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    neutral: ClassVar[Mapping[str, Sequence[Any]]] = {}

    @model_validator(mode="before")
    @classmethod
    def _what_asks(cls, sent: Any) -> Any:
        """What asks for something. Of fields that are not known only the first: each would be a finding, and a hundred
        thousand of them held up everybody for seconds.
        """
        if not isinstance(sent, dict):
            return sent
        useless = (name for name in sent if name not in cls.model_fields)
        odd = next((name for name in useless if not _asks_nothing(cls.neutral.get(name), sent[name])), None)
        return {name: value for name, value in sent.items() if name in cls.model_fields or name == odd}


class Message(Sent):
    """One of a talk. What OpenAI's answers hold besides may come back with them."""

    neutral = dict.fromkeys(("name", "refusal", "annotations", "audio", "function_call", "tool_calls"), ([],))

    role: Literal["system", "developer", "user", "assistant"]
    content: Content


class StreamOptions(Sent):
    """include_usage: a last chunk says how many tokens were read and written."""

    neutral = {"include_obfuscation": (True, False)}

    include_usage: Switch | None = None


class ResponseFormat(Sent):
    """json_schema: OpenAI's object, with the schema under `schema`."""

    type: Literal["text", "json_object", "json_schema"]
    json_schema: dict[str, Any] | None = None


class ChatRequest(Sent):
    """`/v1/chat/completions`. model: a name that `/v1/models` lists."""

    neutral = NEUTRAL

    model: str = Field(max_length=200)
    messages: list[Message] = Field(min_length=1, max_length=MOST_MESSAGES)
    temperature: Temperature | None = None
    max_tokens: Tokens | None = None
    max_completion_tokens: Tokens | None = None
    user: Label | None = None
    safety_identifier: Label | None = None
    prompt_cache_key: Label | None = None
    store: Switch | None = None
    response_format: ResponseFormat | None = None
    seed: Seed | None = None
    stream: Switch | None = None
    stream_options: StreamOptions | None = None

    @field_validator("stream_options")
    @classmethod
    def _of_a_stream(cls, options: StreamOptions | None, known: ValidationInfo) -> StreamOptions | None:
        if options is not None and not known.data.get("stream"):
            raise ValueError("it is for streams; leave it out, or send stream: true")
        return options

    @property
    def most_tokens(self) -> int | None:
        """The smaller of both names' numbers."""
        return min((most for most in (self.max_tokens, self.max_completion_tokens) if most is not None), default=None)


class AnswerRequest(Sent):
    """`/answer`. task: read from the text when left out. store: false keeps the request out of the log."""

    text: Text
    task: Task | None = None
    temperature: Temperature | None = None
    max_tokens: Tokens | None = None
    store: Switch | None = None


class AnswerReply(BaseModel):
    """An answer. data: the object that it is, for a task that asks for one. valid: its form is the task's; fault says
    why not. by: who gave it. passed: who in the route was asked before, and why their answer was not taken.
    """

    id: str
    task: str
    text: str
    data: dict[str, Any] | None
    valid: bool
    fault: str | None
    by: str
    passed: list[str]
    truncated: bool
    tokens_in: int
    tokens_out: int


PIECES = re.compile(r"\s*\S+\s*|\s+")
"""Of a streamed answer: a word and the space around it."""


def streamed(whole: Mapping[str, Any], with_usage: bool) -> str:
    """The server-sent events of a finished chat completion: a role, its text word by word, why it ends, tokens where
    they are asked for, and `[DONE]`.
    """
    (choice,) = whole["choices"]
    parts: list[dict[str, str]] = [{"content": piece} for piece in PIECES.findall(choice["message"]["content"])]
    deltas = [{"role": "assistant", "content": ""}, *parts, {}]
    head = {name: whole[name] for name in ("id", "created", "model", "system_fingerprint")}
    head |= {"object": "chat.completion.chunk"} | ({"usage": None} if with_usage else {})
    plain = {"index": 0, "logprobs": None, "finish_reason": None}
    rows: list[dict[str, Any]] = [head | {"choices": [plain | {"delta": delta}]} for delta in deltas]
    rows[-1]["choices"][0]["finish_reason"] = choice["finish_reason"]
    rows[-1]["tucano"] = whole["tucano"]
    if with_usage:
        rows.append(head | {"choices": [], "usage": whole["usage"]})
    return "".join(f"data: {said}\n\n" for said in (*map(json.dumps, rows), "[DONE]"))


def failed(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """A refusal as OpenAI's clients read it."""
    kind = "invalid_request_error" if status < 500 and status != 429 else "server_error"
    error = {"message": sentence, "type": kind, "param": None, "code": status}
    return JSONResponse({"error": error}, status, dict(headers or {}))
