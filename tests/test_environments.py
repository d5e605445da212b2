"""Our tasks in Inspect and verifiers: what their own programs score is what ours does.

Neither is among the packages that tests need, and one environment cannot hold both (one wants openai before 3, the other
after): TUCANO_INSPECT_PYTHON and TUCANO_VERIFIERS_PYTHON name interpreters that have them.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from chat_api import Server, chat, question, serving

from tucano.benchmark.answers import scored
from tucano.benchmark.replies import Reply
from tucano.environments.questions import Questions, questions, reward_of, truth_of
from tucano.errors import UserError
from tucano.prompts import TASKS, Prompt
from tucano.specs.registry import gold, spec_of
from tucano.thoughts import with_thought

ROOT = Path(__file__).parent.parent
HEAVY = ("torch", "prefect", "mlflow", "pandas", "transformers", "inspect_ai", "verifiers")
Worth = tuple[float, float | None, dict[str, float]]


@pytest.fixture(scope="module")
def asked() -> Questions:
    return questions(None, "test", None, 60, 7)


def answer_to(prompt: Prompt) -> str:
    """To every second prompt the right one, else what a page of rules says."""
    return gold(prompt) if int(prompt.id.split("-")[1]) % 2 else spec_of(prompt.task).baseline.rules([])(prompt)


def worth(prompt: Prompt, text: str, databases: Path) -> Worth:
    """Reward, truth and components as our own benchmark has them."""
    reply = [Reply(text, 0, 0, 0.0, truncated=False, failed=False)]
    served = scored("grounded", "model", [prompt], reply, reply, databases)[0]
    return served.reward, served.truth, served.components


# What both share


def test_an_answer_is_worth_what_our_benchmark_says_with_a_thought_and_without(asked: Questions) -> None:
    rewards = set()
    for prompt in asked.prompts:
        for text in (answer_to(prompt), with_thought("Vejamos.", answer_to(prompt)), ""):
            score = reward_of(asdict(prompt), text, "grounded", str(asked.databases))
            truth = truth_of(asdict(prompt), text, str(asked.databases))
            assert (score.total, truth, score.components) == worth(prompt, text, asked.databases)
            rewards.add(score.total)
    assert len(rewards) > 20 and max(rewards) > 0.9


def test_generated_prompts_are_as_many_as_asked_for_of_all_tasks_or_some(asked: Questions) -> None:
    assert len(asked.prompts) == 60 and {prompt.task for prompt in asked.prompts} == set(TASKS)
    some = questions(None, "train", "push,churn", 80, 7).prompts
    assert len(some) == 80 and {prompt.task for prompt in some} == {"push", "churn"}
    assert some != questions(None, "train", ["push", "churn"], 80, 8).prompts


def test_prompts_of_a_folder_are_all_asked(asked: Questions, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    shutil.copytree(asked.databases, folder)
    found = questions(str(folder), "test", "push", 1, 7)
    assert found.prompts == [prompt for prompt in asked.prompts if prompt.task == "push"]
    assert found.systems["push"] == spec_of("push").system_prompt
    (folder / "train.jsonl").unlink()
    with pytest.raises(UserError, match=r"has no train.jsonl; choose split=test"):
        questions(str(folder), "train", None, 1, 7)
    (folder / "test.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(UserError, match="has no prompt of push"):
        questions(str(folder), "test", "push", 1, 7)
    for wrong, said in (("foo", "there is no split 'foo'"), ("demonstrations", "there is no split")):
        with pytest.raises(UserError, match=said):
            questions(None, wrong, None, 1, 7)  # type: ignore[arg-type]  # as from a command line
    for count, seed in ((-5, 7), (0, 7), ("abc", 7), (1, "x")):
        with pytest.raises(UserError, match="is no whole number of"):
            questions(None, "test", None, count, seed)  # type: ignore[arg-type]
    with pytest.raises(UserError, match="there is no task 'poesia'"):
        questions(None, "test", "push,poesia", 1, 7)


def test_scoring_brings_nothing_that_trains(asked: Questions) -> None:
    program = (
        "import sys; from tucano.environments.questions import questions, reward_of, truth_of; from dataclasses import"
        " asdict\nfound = questions(sys.argv[1], 'test', None, 1, 7)\nfor one in found.prompts:\n"
        " reward_of(asdict(one), 'Oi', 'grounded', sys.argv[1]); truth_of(asdict(one), 'Oi', sys.argv[1])\n"
        "print([name for name in sys.argv[2:] if name in sys.modules])"
    )
    command = [sys.executable, "-c", program, str(asked.databases), *HEAVY]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stdout == "[]\n", done.stderr


# Their own programs


def interpreter(package: str, variable: str) -> str:
    """One with that package; skips without."""
    found = os.environ.get(variable, sys.executable)
    if subprocess.run([found, "-c", f"import {package}"], capture_output=True, check=False).returncode:
        pytest.skip(f"{package} is not installed; {variable} may name an interpreter that has it")
    return found


def run(command: list[str], server: Server, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    said = {"TUCANO_API_KEY": "key", "TUCANO_BASE_URL": server.url, "HOME": str(tmp_path), "NO_PROXY": "127.0.0.1"}
    environment = {**os.environ, **said, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture
def model(asked: Questions, tmp_path: Path) -> Iterator[Server]:
    known = {prompt.user: answer_to(prompt) for prompt in asked.prompts}

    def answer(body: dict[str, Any], _: int) -> tuple[int, dict[str, str], bytes]:
        return 200, {"Content-Type": "application/json"}, chat(known[question(body)])

    with serving(tmp_path / "kept") as server:
        server.answer = answer
        yield server


def assert_asked_as_trained(server: Server, asked: Questions) -> None:
    """Each prompt once, behind the system prompt of its task."""
    chats = [tuple(turn["content"] for turn in body["messages"]) for body, _, _ in server.asked]
    assert sorted(chats) == sorted((asked.systems[prompt.task], prompt.user) for prompt in asked.prompts)


def test_inspect_scores_as_we_do(asked: Questions, model: Server, tmp_path: Path) -> None:
    python = interpreter("inspect_ai", "TUCANO_INSPECT_PYTHON")
    command = [str(Path(python).with_name("inspect")), "eval", "tucano/environments/inspect_task.py", "--model"]
    command += ["openai-api/tucano/m", "-T", "count=60", "--log-dir", str(tmp_path / "logs"), "--log-format", "json"]
    done = run([*command, "--display", "plain"], model, tmp_path)
    assert_asked_as_trained(model, asked)
    (log,) = (tmp_path / "logs").glob("*.json")
    found = {}
    for sample in json.loads(log.read_text(encoding="utf-8"))["samples"]:
        scores = sample["scores"]
        parts = scores["reward"]["metadata"]["components"]
        found[sample["id"]] = scores["reward"]["value"], scores["truth"]["value"], parts
    assert found == {prompt.id: worth(prompt, answer_to(prompt), asked.databases) for prompt in asked.prompts}
    mean = sum(reward for reward, _, _ in found.values()) / len(found)
    assert f"{mean:.3f}" in done.stdout and all(task in done.stdout for task in TASKS)


def test_verifiers_score_as_we_do(asked: Questions, model: Server, tmp_path: Path) -> None:
    python = interpreter("verifiers", "TUCANO_VERIFIERS_PYTHON")
    command = [str(Path(python).with_name("vf-eval")), "tucano-commerce", "-m", "m", "--env.taskset.count", "60"]
    command += ["--client.base-url", model.url, "--client.api-key-var", "TUCANO_API_KEY", "--no-push", "--no-rich"]
    run([*command, "--run.name", "run", "-o", str(tmp_path)], model, tmp_path)
    assert_asked_as_trained(model, asked)
    found = {}
    for line in (tmp_path / "run" / "traces.jsonl").read_text(encoding="utf-8").splitlines():
        (trace,) = json.loads(line)["traces"]
        metrics = trace["metrics"]
        reward = trace["rewards"]["reward"]
        assert reward["weight"] == 1.0
        found[trace["task"]["data"]["name"]] = reward["score"], metrics.pop("truth"), metrics
    assert found == {prompt.id: worth(prompt, answer_to(prompt), asked.databases) for prompt in asked.prompts}
