"""ENEM and FaQuAD: questions with options, and questions about a text."""

from pathlib import Path
from typing import Any

from data.public.files import objects, refusal, text_at
from tucano.benchmark.public.questions import Question

ENEM_FILES = ("20*.json*",)
FAQUAD_FILES = ("dev.json",)
LETTERS = "abcde"
FIGURE = "[[placeholder]]"


def enem(folder: Path) -> list[Question]:
    """The questions of all years that have one right answer among five texts: annulled ones and those whose options are
    drawings are left out. A figure is its description where the file has one.
    """
    found: list[Question] = []
    seen: set[tuple[str, ...]] = set()
    for path in sorted(path for path in folder.glob(ENEM_FILES[0]) if path.suffix in (".json", ".jsonl")):
        for row in objects("enem", path):
            options = row.get("options", row.get("alternatives"))
            label = str(row.get("label", "")).lower()
            if not isinstance(options, list) or len(options) != len(LETTERS) or label not in tuple(LETTERS):
                continue
            texts = tuple(str(option).strip()[:2000] for option in options)
            if not all(texts) or len(set(texts)) < len(texts) or (asked := (_asked(row), *texts)) in seen:
                continue
            seen.add(asked)  # a copy of a file asks nothing more
            right = (texts[LETTERS.index(label)],)
            number = f"enem-{path.stem}-{len(found):04d}"
            found.append(Question(number, "enem", asked[0], number, right, options=texts))
    if not found:
        raise refusal("enem", f"no file of {ENEM_FILES[0]} has a question with five options; take the published files")
    return found


def _asked(row: dict[str, Any]) -> str:
    question = text_at("enem", row, "original_question" if row.get("original_question") else "question")
    described = row.get("description")
    figures = " ".join(map(str, described))[:4000] if isinstance(described, list) else ""
    return question.replace(FIGURE, figures).strip() or question


def faquad(folder: Path) -> list[Question]:
    """The questions of SQuAD's form: each has a text that holds its answer, and one or more right answers."""
    found: list[Question] = []
    try:
        articles = objects("faquad", folder / FAQUAD_FILES[0])[0]["data"]
        parts = [(part, asked) for article in articles for part in article["paragraphs"] for asked in part["qas"]]
        for part, asked in parts:
            text = text_at("faquad", part, "context")
            gold = tuple(dict.fromkeys(text_at("faquad", answer, "text") for answer in asked["answers"]))
            if gold:
                user = f"Texto: {text}\n\nPergunta: {text_at('faquad', asked, 'question')}"
                found.append(Question(f"faquad-{len(found):04d}", "faquad", user, f"faquad {text[:60]}", gold))
    except (KeyError, IndexError, TypeError, AttributeError):
        raise refusal("faquad", f"{FAQUAD_FILES[0]} is not in SQuAD's form; take the published file") from None
    if not found:
        raise refusal("faquad", f"{FAQUAD_FILES[0]} has no question with an answer; take the published file")
    return found
