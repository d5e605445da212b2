"""Rows in the chat forms of others, as rows of ours: OpenAI and TRL (`messages`), ShareGPT (`conversations`), Alpaca
(`instruction`, `input`, `output`). What is learned here is one answer to one question, so several turns are refused:
cut after the first, a later one would be lost, and kept alone, it would lack what it refers to.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tucano.prompts import GENERAL, TASKS, Task
from tucano.security.strict_json import NoJson, strict_json
from tucano.specs.registry import SPECS, spec_of
from tucano.thoughts import bare

MARKS = ("messages", "conversations", "instruction")
"""Each is there in one of the forms alone; a row with `prompt` is one of ours."""
CHAT_FIELDS = (*MARKS, "input", "output", "system", "history")
SYSTEM, USER, ASSISTANT = "system", "user", "assistant"
_ROLES = {role: role for role in (SYSTEM, USER, ASSISTANT)} | {"developer": SYSTEM, "human": USER, "gpt": ASSISTANT}
WEIGHT = "weight"
"""OpenAI's, of an answer: 1, or 0 for one that is not to be learned."""
NOT_BOTH = "not a question and its answer, with or without a system message before them"
_KEYS = {"messages": ("role", "content"), "conversations": ("from", "value")}


class NoChat(ValueError):
    """Why a row in a chat form is not used; a sentence's end."""


@dataclass(frozen=True, slots=True)
class Turned:
    """A row as one of ours, and what was left behind: whether it had a system message that is none of ours, whether its
    answer has the weight 0 and so is not to be learned, and fields of its turns that are not read.
    """

    row: Mapping[str, Any]
    has_other_system: bool = False
    is_unlearned: bool = False
    unread: Sequence[str] = ()


def from_chat(given: Mapping[str, Any]) -> Turned:
    """The row with `prompt`, `demonstration` and `task`; any other row as it is.

    The system message of a task names it. A chat that names no task is a general demonstration. Raises NoChat.
    """
    mark = next((name for name in MARKS if name in given), None)
    if mark is None or "prompt" in given:
        return Turned(given)
    if _holds(given.get("history")):
        raise NoChat("it has a history; one question and its answer are read")
    turns = [] if mark == "instruction" else _turns(given[mark], mark)
    system, user, answer = _said(turns, mark) if turns else _alpaca(given)
    beside = given.get("system")
    if system and _holds(beside) and system != beside:
        raise NoChat(f"{mark} has a system message, and the field system another; keep one")
    system = system or beside
    task = _task_told(system)
    used = (mark, "system", "history", *(("input", "output") if mark == "instruction" else ()))
    rest = {name: value for name, value in given.items() if name not in used}
    own = {"prompt": user, "demonstration": answer, "task": task or GENERAL}
    is_unlearned = bool(turns and answer) and _is_none(turns[-1].get(WEIGHT))
    if is_unlearned and rest.get("task", own["task"]) == GENERAL:
        raise NoChat("its answer has the weight 0 and is not learned, and nothing else of a general row is used")
    if is_unlearned:
        del own["demonstration"]
    row = {name: value for name, value in own.items() if value is not None} | rest
    return Turned(row, bool(system and not task), is_unlearned, _unread(turns, mark))


def _is_none(weight: Any) -> bool:
    return weight is not None and str(weight).strip() in ("0", "0.0", "False")


def _unread(turns: Sequence[Mapping[str, Any]], mark: str) -> list[str]:
    """Fields of the turns that hold something and are not read; calls of tools are refused before."""
    read = (*_KEYS.get(mark, ()), WEIGHT)
    return [name for turn in turns for name, value in turn.items() if name not in read and _holds(value)]


def _holds(value: Any) -> bool:
    """Whether a field holds anything: in CSV an empty list is the text `[]`."""
    return bool(value.strip().strip("[]{}").strip()) if isinstance(value, str) else bool(value)


def _alpaca(given: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """(system message, question, answer): see `_said`."""
    parts = [given[name] for name in ("instruction", "input") if name in given]
    if not all(isinstance(part, str) for part in parts):
        raise NoChat("instruction and input are not both texts")
    return None, "\n\n".join(parts), given.get("output")


def _turns(chat: Any, mark: str) -> list[Mapping[str, Any]]:
    if isinstance(chat, str):  # in CSV it is JSON text
        try:
            chat = strict_json(chat)
        except NoJson as why:
            raise NoChat(f"{mark}: {why}") from None
    role, text = _KEYS[mark]
    turns = chat if isinstance(chat, list) else [chat]
    if not all(isinstance(turn, Mapping) and {role, text} <= turn.keys() for turn in turns):
        raise NoChat(f"{mark} is no list of objects with {role} and {text}")
    if not turns:
        raise NoChat(f"{mark} is {NOT_BOTH}")
    return turns


def _said(turns: Sequence[Mapping[str, Any]], mark: str) -> tuple[Any, Any, Any]:
    """(system message, question, answer), None for what is not there."""
    role, text = _KEYS[mark]
    said = [(_ROLES.get(str(turn[role])), _joined(turn[text])) for turn in turns]
    roles = [who for who, _ in said]
    if None in roles or any(turn.get("tool_calls") or turn.get("function_call") for turn in turns):
        raise NoChat(f"{mark} has a {role} other than {', '.join(_ROLES)}; tools are not learned")
    if roles.count(USER) > 1:
        raise NoChat(f"{mark} has several turns; write each question that stands alone as a row of its own")
    if roles not in ([SYSTEM, USER, ASSISTANT], [USER, ASSISTANT], [SYSTEM, USER], [USER]):
        raise NoChat(f"{mark} is {NOT_BOTH}")
    found = dict(said)
    return found.get(SYSTEM), found[USER], found.get(ASSISTANT)


def _joined(content: Any) -> Any:
    """The text of what comes in parts that are all texts; anything else as it is."""
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, Mapping) and part.get("type") == "text"]
    is_text = parts and len(texts) == len(parts) and all(isinstance(one, str) for one in texts)
    return "".join(map(str, texts)) if is_text else content


def _task_told(system: Any) -> Task | None:
    """The task with this system prompt, whatever its switch for thinking."""
    if not isinstance(system, str):
        return None
    return next((task for task, spec in SPECS.items() if spec.system_prompt == bare(system.strip())), None)


def chat_of(task: str, user: str, demonstration: str) -> str:
    """The texts of a demonstration's turns, whose tokens a model has to have room for."""
    return "\n".join((spec_of(task).system_prompt if task in TASKS else "", user, demonstration))
