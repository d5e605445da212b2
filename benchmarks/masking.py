"""How much personal data masking finds, how often it masks something harmless, and how long it takes.

    python -m benchmarks.masking        # writes the tables of docs/data.md

Recall: of the labelled spans of a corpus (tests/masking_corpus*.jsonl), those of which no letter or digit is left.
False masks: texts without personal data in which anything is masked. Time: CPU milliseconds for 100,000 characters,
the best of five. Exits with 1 where a limit is missed.
"""

import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tucano.masking import KINDS, find, mask
from tucano.masking.page import Mark

if TYPE_CHECKING:
    from masking_corpus import Labelled, Span

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "data.md"

LEAST_RECALL, MOST_FALSE, MOST_MS = 0.98, 0.01, 50.0
MOST_PASSES = 14
"""Masking takes as long as so many plain passes at most, on any machine."""
SLOWEST = 3
"""Texts that the page shows the time of."""
_PLAIN = re.compile(r"(?<!\w)\d+")

CHARACTERS = 100_000
REPEATED = {
    "generated reviews": "", "letters": "a", "letters, dots": "a.", "`a@`": "a@", "`a@1.1`": "a@1.1", "`%40`": "%40",
    "e-mails": "ana@exemplo.com.br ", "digits": "1", "digits, spaces": "1 ", "pairs of digits": "12 ",
    "groups of three": "123 ", "digits, dots": "123.", "full-width digits": "０１ ",
    "digits, zero-width spaces": "1\u200b", "dots": ".", "spaces": " ", "brackets": "(11", "plus signs": "+55 ",
    "hexadecimal": "deadbeef-", "dates": "12/03/2018 ", "prices": "r$ 1.234,56 ", "named, too short": "cpf 12345 ",
    "invalid CPFs": "52998224720 ", "valid CPFs": "52998224725 ", "written CPFs": "529.982.247-25 ",
    "cards": "4111111111111111 ", "mobile phones": "11 98765-4321 ", "phones without area": "98765-4321, ",
    "`1-`": "1-", "`/0001-81`": "/0001-81", "`9 8`": "9 8 ", "`(11)`": "(11)",
}  # fmt: skip
"""What a text of 100,000 characters repeats: what makes naive patterns slow, and nothing but personal data."""


def recall(corpus: Sequence["Labelled"]) -> dict[str, tuple[int, int]]:
    """{kind: (spans masked, spans)}"""
    masked, spans = Counter[str](), Counter[str]()
    for labelled in corpus:
        marks = find(labelled.text)
        for span in labelled.spans:
            spans[span.kind] += 1
            masked[span.kind] += _is_masked(labelled.text, span, marks)
    return {kind: (masked[kind], spans[kind]) for kind in KINDS}


def _is_masked(text: str, span: "Span", marks: Sequence[Mark]) -> bool:
    left = (place for place in range(span.start, span.end) if not any(start <= place < end for start, end, _ in marks))
    return not any(text[place].isalnum() for place in left)


def false_masks(corpus: Sequence["Labelled"]) -> tuple[int, int]:
    """(harmless texts in which anything is masked, harmless texts)"""
    harmless = [labelled.text for labelled in corpus if not labelled.spans]
    return sum(bool(find(text)) for text in harmless), len(harmless)


def missed_in(corpus: Sequence["Labelled"]) -> list[str]:
    """The limits that a corpus does not meet."""
    missed = [kind for kind, (masked, spans) in recall(corpus).items() if masked < LEAST_RECALL * spans]
    false, harmless = false_masks(corpus)
    return missed + (["false masks"] if false > MOST_FALSE * harmless else [])


def text_of(name: str) -> str:
    """A text of `CHARACTERS` characters."""
    unit = REPEATED[name] or (ROOT / "data" / "samples" / "extraction.jsonl").read_text(encoding="utf-8")
    return (unit * (CHARACTERS // len(unit) + 1))[:CHARACTERS]


def milliseconds(text: str, rounds: int = 5) -> float:
    """CPU time of masking a text, the best of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        began = time.process_time()
        mask(text)
        best = min(best, time.process_time() - began)
    return 1000 * best


def pass_milliseconds() -> float:
    """CPU time of one plain pass over as many characters: how fast this machine is at this moment."""
    began = time.process_time()
    _PLAIN.findall("123." * (CHARACTERS // 4))
    return 1000 * (time.process_time() - began)


def quality_table(corpora: dict[str, list["Labelled"]]) -> str:
    """A row for each kind, and one for what is harmless; a column for each corpus."""
    found = {name: recall(corpus) for name, corpus in corpora.items()}
    head = f"| masked | {' | '.join(corpora)} |\n|---|{'---:|' * len(corpora)}\n"
    rows = [f"| {kind} | {' | '.join(_share(*found[name][kind]) for name in corpora)} |" for kind in KINDS]
    false = " | ".join(_share(*false_masks(corpus)) for corpus in corpora.values())
    return head + "\n".join([*rows, f"| harmless texts | {false} |"])


def _share(part: int, whole: int) -> str:
    return f"{part}/{whole}"


def speed_table(times: dict[str, float]) -> str:
    """The slowest texts."""
    slowest = sorted(times.items(), key=lambda found: -found[1])[:SLOWEST]
    rows = [f"| {name} | {spent:.0f} |" for name, spent in slowest]
    return "| 100,000 characters of | ms |\n|---|---:|\n" + "\n".join(rows)


def with_tables(document: str, **tables: str) -> str:
    """The document with each table between its `<!-- masking: NAME -->` and the next `<!-- end -->`."""
    for name, table in tables.items():
        block = re.compile(rf"(<!-- masking: {name} -->\n).*?(\n<!-- end -->)", re.DOTALL)
        document = block.sub(lambda found, table=table: f"{found[1]}{table}{found[2]}", document)  # type: ignore[misc]
    return document


def main() -> int:
    sys.path.insert(0, str(ROOT / "tests"))
    from masking_corpus import corpora

    labelled = corpora()
    times = {name: milliseconds(text_of(name)) for name in REPEATED}
    quality, speed = quality_table(labelled), speed_table(times)
    print(f"{quality}\n\n{speed}")
    document = DOCUMENT.read_text(encoding="utf-8")
    DOCUMENT.write_text(with_tables(document, quality=quality, speed=speed), encoding="utf-8")
    missed = [f"{name}: {what}" for name, corpus in labelled.items() for what in missed_in(corpus)]
    missed += [f"time for {name}" for name, spent in times.items() if spent >= MOST_MS]
    if missed:
        print(f"missed: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
