"""Text from outside (models, APIs, rating folders, names that people give), made safe to show.

Every border has its function: `printable` for terminals, logs and tables, `fenced` and `escaped` for Markdown, and
`PrintableStream` for whatever else is written to a terminal. Stored data stay as they are.
"""

import re
from typing import IO, Any

from tucano.security.addresses import masked

LONGEST_SHOWN = 200
"""Characters of a wrong value or name that a sentence repeats."""
_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"} | {0x7F: 0x2421}
_STEERING = (
    range(0x80, 0xA0),  # C1 controls: 0x9B starts an escape sequence
    (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)),  # turn the direction of what follows
    (0x2028, 0x2029),  # break lines where a newline does not
    range(0xD800, 0xE000),  # lone surrogates: no file and no socket takes them
    range(0xE0000, 0xE0080),  # tags: letters that nobody sees
)
_SHOWN = _PICTURES | {code: 0xFFFD for codes in _STEERING for code in codes}

_MARKUP = re.compile(r"([\\`*_\[\]~|]|^[#+=-])")
"""What makes markup anywhere, and what makes a heading, list or rule at the start of a line."""
_NUMBER = re.compile(r"^(\d{1,9})([.)])")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def printable(text: str) -> str:
    """`text` with control characters as pictures (␛ for escape), and what turns, breaks or hides text as U+FFFD; as
    long as before.

    No text can steer a terminal, pose as another line or reorder what stands beside it. Newlines and tabs stay.
    """
    return text.translate(_SHOWN)


def short(text: str, most: int = LONGEST_SHOWN) -> str:
    """What a person gave, as a sentence may repeat it: one printable line without secrets, of `most` characters."""
    line = " ".join(printable(masked(text)).splitlines())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def fenced(text: str) -> str:
    """`text` as a Markdown code block that it cannot leave: the fence is longer than any run of backticks in it."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}text\n{printable(text)}\n{fence}"


def escaped(text: str) -> str:
    """`text` as one line of Markdown prose that shows what it says: no markup, link or HTML in it is one.

    Angle brackets and ampersands are entities, because not every renderer knows a backslash before them.
    """
    line = _MARKUP.sub(r"\\\1", " ".join(printable(text).split()))
    return _NUMBER.sub(r"\1\\\2", line).translate(_ENTITIES)


class PrintableStream:
    """A text stream that writes only what is printable, and is the stream underneath in everything else."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(printable(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
