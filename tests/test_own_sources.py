"""Own prompts, and several sources, through the data stage: separation, shares, what is said about them."""

import math
import re
from pathlib import Path
from typing import Any

import pytest
from own_rows import ODD_ROWS, insight, push, require_apart, words, written
from pydantic import ValidationError
from test_data_sources import NONCOMMERCIAL, prepared, write_olist

from data.benchmark import Places, prepare_benchmark
from data.prepare import DataReport
from data.shares import Limit, allotted
from tucano.errors import UserError
from tucano.prompts import Prompt, read_prompts
from tucano.settings import DataSettings, PipelineSettings
from tucano.settings.data import DEFAULT_MIX
from tucano.settings.stages import of_benchmark_set
from tucano.specs.banks import JOINT
from tucano.training.validation import selected

MIX = {"push": 0.5, "insights": 0.5}


def run(folder: Path, **chosen: Any) -> tuple[DataReport, dict[str, list[Prompt]]]:
    return prepared(folder, **{"mix": MIX, **chosen})


def own(path: Path, **chosen: Any) -> dict[str, Any]:
    return {"source": "jsonl", "path": str(path), **chosen}


def seen(files: dict[str, list[Prompt]]) -> list[Prompt]:
    return files["train"] + files["demonstrations"] + files["demonstrations_validation"]


def test_a_foreign_file_of_two_tasks_without_truth_becomes_a_prompt_set(tmp_path: Path) -> None:
    """1,480 rows, odd ones among them, and near copies that must not cross the sets."""
    rows: list[Any] = [push(n) for n in range(700)] + [insight(n) for n in range(700)]
    rows += [{"prompt": f"{row['prompt']} {words(n, 1)}", "task": row["task"]} for n, row in enumerate(rows[:40])]
    rows += [row for row, _ in ODD_ROWS.values()]
    rows += [push(n) for n in range(1480 - len(rows))]
    path = written(tmp_path / "own.jsonl", rows)
    report, files = run(tmp_path / "out", **own(path), train_prompts=1000, test_prompts=65, validation_prompts=65)
    assert sum(report.prompts["train"].values()) == 1000 and sum(report.prompts["test"].values()) == 65
    require_apart(seen(files), files["validation"], files["test"])
    assert {prompt.source for prompt in files["train"] + files["test"]} == {"own"}
    assert not any(prompt.reference for prompt in files["train"] + files["test"] + files["validation"])
    assert {prompt.licence for prompt in files["demonstrations"]} == {"CC0-1.0"}
    lines = {int(found[1]) for row in report.bad_rows if (found := re.match(r"own\.jsonl line (\d+): ", row))}
    odd = {number for number, row in enumerate(rows, start=1) if any(row is bad for bad, _ in ODD_ROWS.values())}
    assert odd <= lines
    assert re.search(r"own\.jsonl: \d+ of 1480 rows are not used \(unreadable \d+, reference \d+, ", report.warnings[0])


def test_its_own_worked_answers_come_before_generated_ones(tmp_path: Path) -> None:
    rows = [push(n, demonstration=f"Novidade {n}!") for n in range(60)] + [push(n) for n in range(60, 200)]
    path = written(tmp_path / "own.jsonl", rows)
    report, files = run(tmp_path / "out", **own(path), mix={"push": 1.0}, demonstrations=80, train_prompts=90)
    sources = [prompt.source for prompt in files["demonstrations"] + files["demonstrations_validation"]]
    judged = {prompt.user for prompt in files["test"] + files["validation"]}
    worked = [row for row in rows if "demonstration" in row and row["prompt"] not in judged]
    assert len(sources) == 84 and sources.count("own") == len(worked) > 30
    assert all(prompt.demonstration is None for prompt in files["train"] + files["test"])
    assert report.prompts["train"] == {"push": 90}


def test_a_group_of_templates_stays_in_one_set(tmp_path: Path) -> None:
    rows = [push(n, template=f"tom-{n % 5}{JOINT}frio-{n % 5}") for n in range(300)]
    _, files = run(tmp_path / "out", **own(written(tmp_path / "own.jsonl", rows)), mix={"push": 1.0})
    parts = [
        {part for prompt in prompts if prompt.source == "own" for part in prompt.template.split(JOINT)}
        for prompts in (seen(files), files["validation"], files["test"])
    ]
    held_out = [prompt for prompt in files["test"] if not set(prompt.template.split(JOINT)) & (parts[0] | parts[1])]
    assert 2 * len(held_out) >= len(files["test"]) == 26


def test_gold_queries_that_do_not_run_are_left_out_and_counted(tmp_path: Path) -> None:
    def asked(number: int, sql: str) -> dict[str, Any]:
        reference = {"sql": sql, "database": "store.sqlite"}
        return {"prompt": f"Consulta {words(number)}?", "task": "sql_qa", "reference": reference}

    bad = ["SELECT x FROM nada", "DROP TABLE pedidos", "ATTACH '/etc/passwd' AS a", "SELECT NULL", "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM a) SELECT max(n) FROM a"]  # fmt: skip
    rows = [asked(n, f"SELECT count(*) + {n} FROM pedidos") for n in range(90)]
    rows += [asked(1000 + n, sql) for n, sql in enumerate(bad)]
    rows += [
        {**rows[0], "prompt": f"Pergunta {words(99)}", "reference": {"sql": "SELECT 1", "database": "mine.sqlite"}}
    ]
    path = written(tmp_path / "own.jsonl", rows)
    report, files = run(tmp_path / "out", **own(path), mix={"sql_qa": 1.0}, train_prompts=40)
    assert any("6 prompts are not used, their gold queries" in warning for warning in report.warnings)
    assert all("pedidos" in prompt.reference["sql"] for prompt in files["train"] + files["test"])
    require_apart(seen(files), files["validation"], files["test"])


def test_the_same_gold_query_never_crosses_the_sets(tmp_path: Path) -> None:
    def asked(number: int) -> dict[str, Any]:
        reference = {"sql": f"SELECT count(*) + {number % 60} FROM pedidos", "database": "store.sqlite"}
        return {"prompt": f"Consulta {words(number)}?", "task": "sql_qa", "reference": reference}

    path = written(tmp_path / "own.jsonl", [asked(n) for n in range(300)])
    report, files = run(tmp_path / "out", **own(path), mix={"sql_qa": 1.0}, train_prompts=100)
    require_apart(seen(files), files["validation"], files["test"])
    assert report.turned_away["near a judged text"] > 0


def test_a_task_that_the_file_does_not_have_is_one_sentence(tmp_path: Path) -> None:
    path = written(tmp_path / "own.jsonl", [push(n) for n in range(100)])
    with pytest.raises(UserError, match=r"only 0 prompts of insights .* take insights out of data\.mix"):
        run(tmp_path / "out", **own(path))


def test_personal_data_of_own_rows_is_stored_nowhere(tmp_path: Path) -> None:
    rows = [push(n) for n in range(120)]
    rows += [
        push(n, demonstration="Fale com ana@exemplo.com.br", licence="zap (11) 98765-4321") for n in range(120, 240)
    ]
    rows += [{**push(1), "task": "ana@exemplo.com.br"}]
    report, _ = run(tmp_path / "out", **own(written(tmp_path / "own.jsonl", rows)), mix={"push": 1.0})
    made = b"".join(path.read_bytes() for path in (tmp_path / "out").iterdir())
    assert b"ana@exemplo" not in made and b"98765-4321" not in made and report.masked == {"email": 120, "phone": 120}


# Several sources


def test_two_sources_keep_their_shares(tmp_path: Path) -> None:
    path = written(tmp_path / "own.jsonl", [row(n) for n in range(400) for row in (push, insight)])
    sources = [own(path, share=0.7), {"source": "synthetic", "share": 0.3}]
    mix = {"push": 0.3, "insights": 0.5, "extraction": 0.2}
    report, files = run(tmp_path / "out", sources=sources, mix=mix, train_prompts=300)
    assert report.of_source == {"1 jsonl": 210, "2 synthetic": 90} and report.source == "jsonl+synthetic"
    assert report.prompts["train"] == {"extraction": 60, "insights": 150, "push": 90}
    assert sum(prompt.source == "own" for prompt in files["train"]) == 210
    require_apart(seen(files), files["validation"], files["test"])


def test_a_scarce_source_makes_the_set_smaller_and_keeps_the_shares(tmp_path: Path) -> None:
    path = written(tmp_path / "own.jsonl", [push(n) for n in range(150)])
    sources = [own(path, share=0.7), {"source": "synthetic", "share": 0.3}]
    report, _ = run(tmp_path / "out", sources=sources, mix={"push": 1.0}, train_prompts=400)
    one, two = report.of_source.values()
    assert abs(one / (one + two) - 0.7) <= 0.02 and 100 < one + two < 200
    assert any(re.search("train: .* instead of 400", warning) for warning in report.warnings)


def test_questions_about_the_store_come_from_the_source_that_wrote_it(tmp_path: Path) -> None:
    sources = [
        {"source": "synthetic", "share": 0.6},
        {"source": "olist", "path": str(write_olist(tmp_path / "csv")), "share": 0.4},
    ]
    mix = {"push": 0.5, "sql_qa": 0.2, "insights": 0.3}
    report, files = run(tmp_path / "out", sources=sources, mix=mix)
    asked = [prompt for prompts in files.values() for prompt in prompts if prompt.task == "sql_qa"]
    assert asked and {prompt.licence for prompt in asked} == {NONCOMMERCIAL}
    assert report.of_source == {"1 synthetic": 90, "2 olist": 60}


def limit(**most: int) -> Limit:
    return lambda number, task: most.get(f"{task}{number}")


@pytest.mark.parametrize(
    ("most", "total", "expected"),
    [
        ({}, 100, {(0, "push"): 42, (0, "churn"): 28, (1, "push"): 18, (1, "churn"): 12}),
        ({"churn0": 0, "push1": 0}, 100, {}),  # .7 of push alone is more than push's share
        ({"churn0": 10}, 100, {(0, "push"): 60, (0, "churn"): 10, (1, "push"): 0, (1, "churn"): 30}),
        ({"push0": 0, "churn0": 14}, 100, {}),
    ],
)
def test_allotments_by_hand(most: dict[str, int], total: int, expected: dict[tuple[int, str], int]) -> None:
    """60 push and 40 churn, of which the first source gives 70."""
    cells = allotted(total, {"push": 0.6, "churn": 0.4}, (0.7, 0.3), limit(**most))
    if expected:
        assert cells == expected
    total = sum(cells.values())
    first = sum(count for (number, _), count in cells.items() if number == 0)
    assert abs(first - 0.7 * total) <= 1
    assert all(count <= most.get(f"{task}{number}", total) for (number, task), count in cells.items())


def test_a_checkpoint_is_not_chosen_by_a_truth_that_nobody_knows() -> None:
    with pytest.raises(UserError, match=r"grpo\.selection=truth: no validation prompt has a reference"):
        selected({"truth": math.nan, "reward": 0.5}, "truth")
    assert selected({"truth": math.nan, "reward": 0.5}, "reward") == 0.5


def test_the_benchmark_asks_what_no_set_has_used_and_knows_the_truth(tmp_path: Path) -> None:
    rows = [push(n, reference={"product": "bolsa", "terms": ["bolsa"]} if n % 2 else {}) for n in range(150)]
    path = written(tmp_path / "own.jsonl", rows)
    _, files = run(tmp_path / "out", **own(path), mix={"push": 1.0}, train_prompts=60, demonstrations=10)
    settings = PipelineSettings.model_validate({"data": {**own(path), "mix": {"push": 1.0}}})
    places = Places(settings.data.paths)
    (tmp_path / "asked").mkdir()
    counts = prepare_benchmark(of_benchmark_set(settings), places, tmp_path / "out", tmp_path / "asked")
    asked = read_prompts(tmp_path / "asked" / "test.jsonl")
    used = {prompt.user for prompts in files.values() for prompt in prompts}
    assert len(asked) == 130 and all(prompt.reference for prompt in asked) and not used & {p.user for p in asked}
    assert counts["prompts"]["push own"] > 10 and counts["prompts"]["push synthetic"] > 50


def test_one_task_set_to_nothing_scales_the_others() -> None:
    settings = DataSettings.model_validate({"mix": {"extraction": 0.4, "sql_qa": 0, "insights": 0.1, "push": 0.1}})
    assert settings.mix == pytest.approx({"extraction": 2 / 3, "sql_qa": 0, "insights": 1 / 6, "push": 1 / 6})
    assert DataSettings.model_validate({"mix": {"sql_qa": 0}}).mix == pytest.approx(settings.mix)


# Settings


SOURCES: dict[str, tuple[dict[str, Any], str]] = {
    "a slip in the mix": ({"mix": {"push": 0.5, "churn": 0.4}}, r"adds up to 0\.9; .* \{push: 0\.5556, churn: 0\.4444\}"),
    "nothing": ({"mix": dict.fromkeys(DEFAULT_MIX, 0.0)}, "no task has a share"),
    "both": ({"source": "b2w", "path": "a", "sources": [{"source": "synthetic"}]}, "leave data.source and data.path out"),
    "no path": ({"sources": [{"source": "jsonl"}]}, "needs data.path"),
    "path of nothing": ({"sources": [{"source": "synthetic", "path": "a"}]}, "is not read by"),
    "shares": ({"sources": [{"source": "synthetic", "share": 0.5}]}, "must add up to 1, they add up to 0.5"),
    "one file twice": ({"sources": [own(Path("a.jsonl"), share=0.5), own(Path("./x/../a.jsonl"), share=0.5)]}, "names a.jsonl twice"),
    "two stores": ({"sources": [own(Path("a"), source="olist", share=0.5)] * 2}, "names olist twice"),
    "no share": ({"sources": [{"source": "synthetic", "share": 0.0}, {"source": "synthetic"}]}, "greater than 0"),
}  # fmt: skip


@pytest.mark.parametrize("what", SOURCES)
def test_settings_that_contradict_themselves_are_refused(what: str) -> None:
    chosen, complaint = SOURCES[what]
    with pytest.raises(ValidationError, match=complaint):
        DataSettings.model_validate(chosen)
