"""Labelled Brazilian texts for measuring the masking of personal data; written before the rules were looked at.

Each `masking_corpus*.jsonl` has authors of its own and holds one text a line, as buyers and sellers write them, with every span that must be masked; a
text without spans is harmless and nothing in it may be masked. All names, numbers and addresses are invented. How it
was labelled: a span covers the value alone (with its +55, its bracketed area code, its final X), not the word that
names it, not the issuer (SSP/SP, MG-), not the punctuation around it; masking more than the span is no miss, so a value
counts as masked when no letter or digit of its span is left. A value in a shape of its own (529.982.247-25, (11)
98765-4321, 702-1234567-1234567) counts anywhere, and so does a bare run of digits with valid check digits; any other
bare run counts only beside a word that names it, and then also with wrong check digits, because people mistype. A Pix
key that is a CPF, CNPJ, phone or e-mail has that kind; `pix` is the random key, of which the UUID alone is labelled
inside a copy-and-paste code. The CNPJ counts although it names a company. CEPs, street numbers, @handles, EANs and
prices are harmless. Doubtful forms are in neither part: 0800 numbers, a card's last four digits, tracking codes,
tax-note keys, bare UUIDs, bare 32-digit hexadecimal ids and unformatted mobile numbers that no word names.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

Kind = Literal["cpf", "cnpj", "phone", "email", "card", "order", "rg", "pix"]


@dataclass(frozen=True)
class Span:
    """`text[start:end]` must be masked; Python string indices, `end` exclusive."""

    start: int
    end: int
    kind: Kind


@dataclass(frozen=True)
class Labelled:
    """A text, its spans in order and without overlap, and what the author meant by it (form, valid or invalid)."""

    text: str
    spans: tuple[Span, ...]
    note: str


def corpora() -> dict[str, list[Labelled]]:
    """{first, second or third: its texts, in the order of the file}"""
    files = {"first": "masking_corpus", "second": "masking_corpus_2", "third": "masking_corpus_3"}
    return {name: _corpus(Path(__file__).with_name(f"{file}.jsonl")) for name, file in files.items()}


def _corpus(file: Path) -> list[Labelled]:
    return [_labelled(line) for line in file.read_text(encoding="utf-8").split("\n") if line]


def _labelled(line: str) -> Labelled:
    row = json.loads(line)
    spans = tuple(Span(**span) for span in row["spans"])
    ends = [0, *(span.end for span in spans)]
    for before, span in zip(ends, spans, strict=False):
        assert before <= span.start < span.end <= len(row["text"]), f"span out of order: {line}"
        assert span.kind in get_args(Kind), f"unknown kind: {line}"
    return Labelled(row["text"], spans, row["note"])
