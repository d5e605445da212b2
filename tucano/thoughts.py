"""What a model thinks before it answers: how it is told to, and the one place that takes the thought off an answer.

A thought stands between two marks before the answer, as Qwen3 and its kin write it. Whether a task is answered after
one is said at the end of its system prompt (Qwen3's soft switch): whoever asks a model sends that prompt, so training,
evaluation and serving agree without knowing of it.
"""

import re
from collections.abc import Mapping

OPEN, CLOSE = "<think>", "</think>"
NONE_YET = f"{OPEN}\n\n{CLOSE}\n\n"
"""The empty thought that a chat template writes where a model shall answer at once."""
_CLOSED = re.compile(rf"{OPEN}\s*{CLOSE}\s*\Z")
ON, OFF = "/think", "/no_think"
_IN_OBJECT = rf'(?:"(?:[^"\\]|\\.)*"|(?!{OPEN})[^"])*?'
THOUGHTS = rf"(?s)\A(?:(?:\s*\{{{_IN_OBJECT}|(?!\s*\{{)(?:(?!{OPEN}).)*?){CLOSE}\s*|\s*{OPEN}(?:.*?{CLOSE}\s*|.*))*"
"""What stands before an answer, also where the prompt has opened the thought and the text only closes it, and where one
is closed twice; all of a text whose thought is not closed. A mark within a string of a JSON object is said and closes
nothing. A pattern, since it is packed with models that are served without our code."""
_THOUGHTS = re.compile(THOUGHTS)


def without_an_empty_one(text: str) -> str:
    """A text without the empty thought at its end, however its lines are broken."""
    return _CLOSED.sub("", text)


def answer_of(text: str) -> str:
    """What a text says after its thoughts. An unclosed thought is no answer: then nothing is left."""
    return _THOUGHTS.sub("", text, count=1)


def has_unclosed_thought(text: str) -> bool:
    return bool(text) and not answer_of(text) and not text.rstrip().endswith(CLOSE)


def control_token(text: str) -> str | None:
    """The end of a sentence about a text that holds one: a tokenizer reads it as the end of a turn or of a text,
    wherever it stands.
    """
    found = _CONTROL.search(text)
    return f"holds {found[0]!r}, which models read as a control token; take it out" if found else None


def unlearnable(answer: str) -> str | None:
    """Why no model shall learn from an answer, as a sentence's end; None for one that it may learn from."""
    if mark := control_token(answer):
        return mark
    left = _WHOLE.sub("", answer)
    if OPEN in left or CLOSE in left:  # learnt from, a thought without its end would be all that is answered
        return f"holds {OPEN} or {CLOSE} without the other; write both, or none"
    return None if left.strip() else "has a thought, and no answer after it" if answer.strip() else "says nothing"


_CONTROL = re.compile(r"<[|\uff5c][^|\uff5c<>\s]{1,60}[|\uff5c]>")
"""What frames a chat, like <|im_start|>; some write it with a wide bar."""
_WHOLE = re.compile(f"(?s){OPEN}(?:(?!{OPEN}).)*?{CLOSE}")


def told(system_prompt: str, thinks: bool) -> str:
    """The system prompt of a task of a model that can think, with its switch on or off."""
    return f"{system_prompt} {ON if thinks else OFF}"


def bare(system_prompt: str) -> str:
    """A system prompt without its switch."""
    return system_prompt.removesuffix(f" {OFF}").removesuffix(f" {ON}")


def can_think(system_prompts: Mapping[str, str]) -> bool:
    """Whether the system prompts of a run are those of a model that can think, whether or not it shall."""
    return any(prompt.endswith((ON, OFF)) for prompt in system_prompts.values())


def thinks(system_prompt: str) -> bool:
    """Whether a task is answered after a thought."""
    return system_prompt.endswith(ON)


def with_thought(thought: str, answer: str) -> str:
    return f"{OPEN}\n{thought}\n{CLOSE}\n\n{answer}"
