"""An arm that has answered before does not answer again: its lines are taken from that artifact."""

import io
import json
from pathlib import Path

from tasks.compare import TIMES, _of_starts
from tucano.files.results import AnswerFiles
from tucano.training.answers import copy_answered
from tucano.training.jobs import Job


def test_arms_are_taken_over_line_by_line(tmp_path: Path) -> None:
    before = AnswerFiles(tmp_path)
    arms = ("base", "sft", "seed-42", "champion")
    lines = [
        json.dumps({"arm": arm, "completion": f"olá {n}\u2028"}, ensure_ascii=False) for arm in arms for n in range(2)
    ]
    before.answers.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    before.language.write_text("".join(f'{{"arm": "{arm}", "nats": 1}}\n' for arm in arms), encoding="utf-8")
    answers, language = io.StringIO(), io.StringIO()
    known = {arm: str(tmp_path) for arm in ("base", "seed-42")}
    copy_answered(Job("answer", {}, "", "", "", 1, answered=known), answers, language)
    assert answers.getvalue() == "".join(f"{line}\n" for line in lines[:2] + lines[4:6])
    assert language.getvalue().count("nats") == 2


def test_what_the_starts_answered_beside_three_seeds_serves_three_and_no_other_number() -> None:
    beside = {"prompts": "p", "start": "s", TIMES: "3"}
    later = {"prompts": "p", "start": "s", "seed-1": "a", "seed-2": "b", "seed-3": "c", "champion": "model version 1"}
    assert _of_starts(beside) == _of_starts(later)
    assert _of_starts(beside) != _of_starts({name: value for name, value in later.items() if name != "seed-3"})
    assert _of_starts(beside) != _of_starts(later | {"start": "another"})
