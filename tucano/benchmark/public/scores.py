"""What an answer to a public benchmark's question is worth, by the rule of that benchmark."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from tucano.benchmark.public.questions import Question
from tucano.truth.sql import right_answer

MAIN: dict[str, str] = {"spider_pt": "execution", "enem": "accuracy", "faquad": "f1"}
"""The metric that arms are contrasted by."""
LONGEST = 4_000
"""Characters of an answer that are read as a passage: FaQuAD's texts are shorter."""
_ARTICLES = frozenset(["o", "a", "os", "as", "um", "uma", "uns", "umas"])


def score(question: Question, answer: str, databases: Path) -> dict[str, float]:
    """{metric: 0 to 1}."""
    if question.benchmark == "spider_pt":
        reference = {"sql": question.gold[0], "database": question.database}
        return {"execution": float(right_answer(reference, answer, databases))}
    if question.benchmark == "enem":
        return {"accuracy": float(answer == question.gold[0])}
    found = [(exact_match(gold, answer), f1(gold, answer)) for gold in question.gold]
    return {"exact_match": max(exact for exact, _ in found), "f1": max(overlap for _, overlap in found)}


def plain_words(text: str) -> list[str]:
    """SQuAD's normal form (Rajpurkar et al. 2016, arXiv 1606.05250, section 6.1): lower case, no punctuation, no
    articles; here Portuguese ones.
    """
    kept = "".join(sign for sign in text[:LONGEST].lower() if not unicodedata.category(sign).startswith("P"))
    return [word for word in re.split(r"\s+", kept) if word and word not in _ARTICLES]


def exact_match(gold: str, answer: str) -> float:
    return float(plain_words(gold) == plain_words(answer))


def f1(gold: str, answer: str) -> float:
    """Harmonic mean of precision and recall over the words, each as often as it stands; 1 where both have none."""
    theirs = Counter(plain_words(gold))
    mine = Counter(plain_words(answer))
    if not theirs or not mine:
        return float(theirs == mine)
    common = (theirs & mine).total()
    return 2 * common / (theirs.total() + mine.total())


# Arms that need no model


def baselines(questions: Sequence[Question]) -> dict[str, Callable[[Question], str]]:
    """{arm: what answers}. `gold` shows that the questions can be answered as they are judged. The others do not look
    at the right answers: *constant* is one answer for all, *majority* the most usual form of one.
    """
    return {"gold": lambda question: question.gold[0], "constant": _constant, "majority": _majority}


def _constant(question: Question) -> str:
    return {"spider_pt": "SELECT 1", "enem": question.options[0] if question.options else ""}.get(
        question.benchmark, "sim"
    )


def _majority(question: Question) -> str:
    """The number of rows of the schema's first table; the longest option; the text's first five words."""
    if question.benchmark == "spider_pt":
        return f'SELECT count(*) FROM "{question.user.split("(")[0].rpartition(chr(10))[2]}"'
    if question.benchmark == "enem":
        return max(question.options, key=len)
    return " ".join(question.user.split()[1:6])
