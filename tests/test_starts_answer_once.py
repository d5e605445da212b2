"""The lines of base and SFT start are taken from an earlier artifact; those of seeds and champion never are."""

import io
import json
from pathlib import Path

from tucano.files.results import AnswerFiles
from tucano.training.answers import _known
from tucano.training.jobs import Arm, Job


def test_only_starts_are_taken_over_line_by_line(tmp_path: Path) -> None:
    before = AnswerFiles(tmp_path)
    arms = ("base", "sft", "seed-42", "champion")
    lines = [
        json.dumps({"arm": arm, "completion": f"olá {n}\u2028"}, ensure_ascii=False) for arm in arms for n in range(2)
    ]
    before.answers.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    before.language.write_text("".join(f'{{"arm": "{arm}", "nats": 1}}\n' for arm in arms), encoding="utf-8")
    answers, language = io.StringIO(), io.StringIO()
    job = Job("answer", {}, "", "", "", 1, arms=[Arm(arm, "b") for arm in arms], answered=str(tmp_path))
    assert _known(job, answers, language) == {"base", "sft"}
    assert answers.getvalue() == "".join(f"{line}\n" for line in lines[:4])
    assert language.getvalue().count("nats") == 2
    job = Job("answer", {}, "", "", "", 1)
    assert _known(job, io.StringIO(), io.StringIO()) == set()
