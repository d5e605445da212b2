"""The questions of the public benchmarks that a run asks, in one folder."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from data.public.files import folder_of, licence_of
from data.public.spider import FILES as SPIDER_FILES
from data.public.spider import spider
from data.public.texts import ENEM_FILES, FAQUAD_FILES, enem, faquad
from tucano.benchmark.public.questions import PublicFiles, Question, write_lines

NEEDED: Mapping[str, tuple[str, ...]] = {"spider_pt": SPIDER_FILES, "enem": ENEM_FILES, "faquad": FAQUAD_FILES}

TEXTS: Mapping[str, Callable[[Path], list[Question]]] = {"enem": enem, "faquad": faquad}


def _questions(name: str, place: str, seed: int = 0, out: Path | None = None) -> list[Question]:
    """What a benchmark asks; Spider's databases are written into `out`."""
    folder = folder_of(name, place, NEEDED[name])
    return spider(folder, seed, out) if name == "spider_pt" else TEXTS[name](folder)


def public_questions(places: Mapping[str, str]) -> Iterator[str]:
    """What these benchmarks ask: texts that nothing may be trained on."""
    for name, place in places.items():
        yield from (question.user for question in _questions(name, place))


def require_public(places: Mapping[str, str]) -> None:
    """UserError where a folder is not the benchmark's: files are missing, cannot be read, or hold a gold query that
    cannot be asked. Spider's databases are made for it, in a second, and thrown away.
    """
    with TemporaryDirectory() as thrown_away:
        for name, place in places.items():
            _questions(name, place, out=Path(thrown_away))


def prepare_public(seed: int, places: Mapping[str, str], folder: Path) -> dict[str, Any]:
    """Writes the questions and their databases into `folder`; returns their counts and licences."""
    questions: list[Question] = []
    licences = {}
    for name, place in places.items():
        questions += _questions(name, place, seed, folder)
        licences[name] = licence_of(Path(place))
    write_lines(PublicFiles(folder).questions, questions)
    return {"questions": dict(Counter(question.benchmark for question in questions)), "licences": licences}
