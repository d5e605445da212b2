"""How much personal data masking finds, how often it masks something harmless, and how long it takes; writes both tables into docs/data.md.

    python -m benchmarks.masking

Recall: of the labelled spans of tests/masking_corpus.jsonl, those of which no letter or digit is left. False masks: lines without personal
data in which anything is masked. Time: CPU milliseconds for 100,000 characters, the best of five. Exits with 1 where a limit is missed.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "data.md"
RECALL, FALSE_MASKS, MILLISECONDS = 0.98, 0.01, 50.0
"""At least, at most, at most."""

CHARACTERS = 100_000
REPEATED = {
    "digits": "1", "digits and spaces": "1 ", "pairs of digits": "12 ", "triples of digits": "123 ", "full-width digits": "０１ ", "dots": ".",
    "digits and dots": "123.", "`a@a@a@…`": "a@", "almost e-mails": "a@1.1", "spaces": " ", "zero-width": "1\u200b", "encoded `@`": "%40",
    "brackets": "(11", "plus signs": "+55 ", "words and digits": "cpf 12345 ", "dates": "12/03/2018 ", "prices": "r$ 1.234,56 ",
    "CPFs with marks": "529.982.247-25 ", "CPFs without": "52998224725 ", "wrong CPFs": "52998224720 ", "cards": "4111111111111111 ",
    "mobile phones": "11 98765-4321 ", "e-mails": "ana@exemplo.com.br ", "hexadecimal": "deadbeef-",
}  # fmt: skip
"""What is repeated to 100,000 characters: texts that bring naive patterns to their knees, and nothing but personal data."""
