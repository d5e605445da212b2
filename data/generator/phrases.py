"""What prompts of the plain style are put together from, as phrases.txt has it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tucano.specs.banks import Bank

_MARKED = re.compile(r"(told|validation|test|further): (.*)")


@dataclass(frozen=True)
class Complaint:
    """What a review complains of: the flag that it sets, and how the answer names it."""

    flag: str
    complaint: str


@dataclass(frozen=True)
class Issue(Complaint):
    """And how customers put it."""

    bank: Bank


@dataclass(frozen=True)
class Family:
    """One kind of question, with its gold query and how its result is told."""

    sql: str
    explanation: str
    bank: Bank


def _read() -> Iterator[tuple[list[str], Bank]]:
    """(what is told of a bank, the bank)"""
    for part in Path(__file__).with_name("phrases.txt").read_text(encoding="utf-8").split("\n@")[1:]:
        code, *lines = [line for line in part.splitlines() if line and not line.startswith("#")]
        found: dict[str, list[str]] = {"told": [], "known": [], "validation": [], "test": [], "further": []}
        for line in lines:
            marked = _MARKED.fullmatch(line)
            kind, text = marked.groups() if marked else ("known", line)
            found[kind].append(text)
        yield found["told"], Bank(code, *(tuple(texts) for texts in list(found.values())[1:]))


_READ = tuple(_read())
BANKS = {bank.code: bank for _, bank in _READ}
FAMILIES = tuple(Family(told[0], told[1], bank) for told, bank in _READ if told and told[0].startswith("SELECT"))
ISSUES = tuple(Issue(told[0], told[1], bank) for told, bank in _READ if told and told[0].endswith("_issue"))
