"""Bases as others ship them, through `tucano run` in small: without a template, padding with the token that ends texts,
and with a template that opens a thought before every answer.
"""

import json
import re
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from test_chat_templates import ALWAYS, SPLITS
from test_pipeline import finished, started, whys
from transformers import AddedToken, AutoModelForCausalLM, AutoTokenizer

from tucano.artifacts.identity import SHIPPED
from tucano.thoughts import CLOSE, OPEN

pytestmark = pytest.mark.long
SIGNALS = [f"signal: {task}" for task in ("push", "churn")]
SMALL = {
    "grpo__seeds": [42], "grpo__max_completion_tokens": 112, "model__max_length_tokens": 640,
    "preflight__allow_red": json.dumps(SIGNALS),
}  # fmt: skip
FIRST = "<|endoftext|>"
OPENS = "the model's own chat template opens a thought before every answer"
CHECKED = "artifacts/preflight/*/preflight.txt"
Answers = dict[str, list[dict[str, Any]]]
"""The seed's, by task."""


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all: their audit is the same."""
    return tmp_path_factory.mktemp("runs")


def base(folder: Path, ends: str) -> Path:
    """mini without its template, whose tokenizer ends and pads with one token; and the first token is named as Qwen
    names it.
    """
    shutil.copytree(SHIPPED["mini"], folder)
    (folder / "chat_template.jinja").unlink()
    for path in folder.glob("token*.json"):
        path.write_text(path.read_text(encoding="utf-8").replace("<|pad|>", FIRST), encoding="utf-8")
    for name, told in (
        ("tokenizer_config.json", {"eos_token": ends, "pad_token": ends}),
        ("generation_config.json", {"eos_token_id": {FIRST: 0, "<|im_end|>": 2}[ends]}),
    ):
        said = json.loads((folder / name).read_text(encoding="utf-8"))
        (folder / name).write_text(json.dumps({**said, **told}), encoding="utf-8")
    return folder


def ran(storage: Path, said: str = "", /, **chosen: Any) -> Answers:
    before = {*storage.glob("artifacts/answers/*")}
    code, output = finished(started(storage, **{**SMALL, **chosen}))
    assert code == 0 and said in output and "comparison" in whys(output), output
    verdict = re.findall(r"^\| overall .*", output, flags=re.MULTILINE)[0]
    (folder,) = {*storage.glob("artifacts/answers/*")} - before
    found: Answers = defaultdict(list)
    for line in (folder / "answers.jsonl").read_text(encoding="utf-8").splitlines():
        if (row := json.loads(line))["arm"] == "seed-42":
            found[row["task"]].append(row)
    print(
        verdict,
        *({key: rows[0][key] for key in ("completion", "reward", "tokens")} for rows in found.values()),
        sep="\n",
    )
    return found


def cut_off(found: Answers) -> float:
    rows = [row for of_task in found.values() for row in of_task]
    return sum(row["truncated"] for row in rows) / len(rows)


def test_a_base_that_pads_with_its_end_and_has_no_template_is_trained_without_sft(
    storage: Path, tmp_path: Path
) -> None:
    """After R1-Zero, in ChatML, whose mark of a turn's end its tokenizer does not end with."""
    folder = base(tmp_path / "base", FIRST)
    found = ran(storage, model__name=folder, model__chat_template="chatml", sft__enabled="false")
    assert cut_off(found) < 0.1
    assert max(row["reward"] for row in found["push"]) > 0.5


def test_sft_teaches_a_base_that_pads_with_its_end_to_end_plain_answers(storage: Path, tmp_path: Path) -> None:
    taught = {"data__demonstrations": 300, "sft__learning_rate": 0.002, "sft__max_epochs": 2}
    found = ran(storage, model__name=base(tmp_path / "base", "<|im_end|>"), model__chat_template="plain", **taught)
    assert cut_off(found) < 0.1


def test_a_template_that_always_thinks_is_closed_for_the_tasks_that_answer_at_once(storage: Path) -> None:
    """nano is shown how a thought ends; the template opens it for one task."""
    red = json.dumps([*SIGNALS, "completion length", "thoughts"])
    taught = {"data__demonstrations": 600, "model__nano_hidden": 64, "sft__max_epochs": 4, "preflight__allow_red": red}
    found = ran(storage, model__chat_template="chatml-think", data__thinking='["churn"]', **taught)
    thought = {task: [row["think_tokens"] > 0 for row in rows] for task, rows in found.items()}
    assert all(thought.pop("churn"))
    assert sum(map(sum, thought.values())) < 0.05 * sum(map(len, thought.values())), "so small a model babbles"
    assert any(row["completion"].startswith("{") for row in found["churn"])
    assert not any(row["completion"].startswith(OPEN) for rows in found.values() for row in rows)


@pytest.fixture(scope="module")
def thinker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """mini with tokens for the marks of a thought, and a template of its own that opens one before every answer."""
    folder = tmp_path_factory.mktemp("thinker")
    tokenizer = AutoTokenizer.from_pretrained(SHIPPED["mini"])
    tokenizer.add_tokens([AddedToken(mark, normalized=False) for mark in (OPEN, CLOSE)])
    tokenizer.chat_template = ALWAYS
    policy = AutoModelForCausalLM.from_pretrained(SHIPPED["mini"])
    policy.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    for part in (tokenizer, policy):
        part.save_pretrained(folder)
    return folder


@pytest.mark.parametrize(("given", "said"), [({"model__chat_template": "chatml-think"}, ""), ({}, OPENS)])
def test_sft_teaches_to_close_what_a_template_of_its_own_opens_and_another_opens_nothing(
    given: dict[str, str], said: str, storage: Path, thinker: Path
) -> None:
    taught = {"data__demonstrations": 300, "sft__learning_rate": 0.002, "sft__max_epochs": 2}
    before = {*storage.glob(CHECKED)}
    found = ran(storage, said, model__name=thinker, **given, **taught)
    (checked,) = {*storage.glob(CHECKED)} - before
    assert ("none is opened" in checked.read_text(encoding="utf-8")) == bool(given)
    rows = [row for of_task in found.values() for row in of_task]
    assert cut_off(found) < 0.1 and not any(row["completion"].startswith(OPEN) for row in rows)
    assert sum(row["reward"] for row in rows) > 0.3 * len(rows), "an unclosed thought is no answer"


def test_all_tasks_think_by_a_template_of_its_own_that_always_opens_a_thought(
    storage: Path, thinker: Path, tmp_path: Path
) -> None:
    shutil.copytree(thinker, tmp_path / "splits")
    (tmp_path / "splits" / "chat_template.jinja").write_text(SPLITS, encoding="utf-8")
    red = json.dumps(
        [*SIGNALS, "completion length", "served length", "thoughts"]
    )  # an adapter cannot move new tokens far
    taught = {
        "data__thinking": '["push","churn"]',
        "data__demonstrations": 600,
        "sft__learning_rate": 0.002,
        "sft__max_epochs": 2,
        "preflight__allow_red": red,
    }
    found = ran(storage, model__name=tmp_path / "splits", **taught)
    rows = [row for of_task in found.values() for row in of_task]
    assert all(row["think_tokens"] > 0 for row in rows)
    assert not any(row["completion"].startswith(OPEN) for row in rows), "a thought was opened twice"
    assert any(row["reward"] > 0.5 for row in rows), "none was closed before an answer"
