"""Texts whose score is known without asking anyone: worthless ones, and pairs that say the same.

The probes are built from the tasks' specs, and from prompts and answers of the rating set. None of them knows how any
reward is computed.
"""

import re
import unicodedata
from collections.abc import Iterator

from tucano.prompts import Prompt, Task
from tucano.specs import objects
from tucano.specs.registry import spec_of
from tucano.specs.texts import Change, without_thousands_dots

REPETITIONS = 60
_QUERY = re.compile(r"```sql\n.*?(?=\n?```)", re.DOTALL)


def worthless(prompt: Prompt) -> dict[str, list[str]]:
    """Answers to this prompt that no one can use, by kind."""
    probes = spec_of(prompt.task).probes
    opening = " ".join(prompt.user.split()[:3])
    return {
        "empty": ["", " \n\t "],
        "copied prompt": [prompt.user],
        "keyword stuffing": [probes.stuffing],
        "repetition": [probes.repeated * probes.times, f"{opening} " * REPETITIONS],
        "wrong language": [probes.english],
        "refusal": ["Desculpe, não posso ajudar com isso.", "Não sei responder a esta pergunta."],
        "odd text": ["{" * 200, "[" * 200, "9" * 400, '{"a": NaN}', "\x00\x01", "```" * 3, "\u200b" * 30, "R$ %" * 40],
        "system prompt": [spec_of(prompt.task).system_prompt],
        "marks": ["🎉" * 20, "1 2 3 4 5 6 7 8 9 10", "- \n- \n- "],
        **probes.more,
    }


def same_meaning(task: Task, completion: str) -> Iterator[Change]:
    """Kind and two texts that say the same and must score the same."""
    yield "white space", completion, f"\n  {completion} \n\n"
    yield "unicode form", unicodedata.normalize("NFC", completion), unicodedata.normalize("NFD", completion)
    if spec_of(task).fields:
        yield from objects.same(completion)
    elif (plain := without_thousands_dots(completion)) != completion:
        yield "number formats", completion, plain
    if query := _QUERY.match(completion):
        upper = re.sub(r"'[^']*'|[^']+", lambda part: part[0] if part[0][0] == "'" else part[0].upper(), query[0])
        yield "upper case", completion, f"```sql{upper[6:]}{completion[query.end() :]}"
