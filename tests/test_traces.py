"""Served answers as MLflow traces, people's ratings beside them, system prompts in MLflow's registry: in a SQLite store,
and through MLflow's server.
"""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from mlflow.exceptions import MlflowException
from mlflow_server import Server

from tucano.cli.rating.assessed import assessed
from tucano.errors import Transient, UserError
from tucano.profiles import validated
from tucano.prompts import Prompt
from tucano.rating.files import RaterKind, RatingLine
from tucano.serving.answers import Answer, Ask
from tucano.serving.metrics import Metrics
from tucano.serving.request_log import FILE, FOLDER, RequestLog
from tucano.serving.routes import Routed, what_leaves
from tucano.settings.promotion import ServingSettings
from tucano.tracking import Row, Tracker, traces
from tucano.tracking.traces import Traces, show_ratings

LOST = "tucano_requests_not_traced_total"
TEXT, ANSWER = "Crie um push para o CPF 529.982.247-25.", "Ligue 11 98765-4321 e peça!"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setattr(traces, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(traces, "AWAY_SECONDS", 0.05)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A storage whose store holds nothing; to make its tables takes seconds."""
    storage = tmp_path_factory.mktemp("empty")
    Tracker.connect(f"sqlite:///{storage}/mlflow/mlflow.db", storage)
    return storage


@pytest.fixture
def tracker(empty: Path, tmp_path: Path) -> Tracker:
    shutil.copytree(empty / "mlflow", tmp_path / "mlflow")
    return Tracker.connect(None, tmp_path)


@contextmanager
def serving(tracker: Tracker, storage: Path, metrics: Metrics) -> Iterator[Callable[..., None]]:
    """Answers a request of that id, as a server with `serving.trace_requests` would."""
    sender = Traces(tracker, storage, metrics.not_traced.inc)
    with RequestLog(storage, ServingSettings(trace_requests=True), metrics, sender.offer) as log:

        def answer(number: int, text: str = TEXT, fault: str | None = None) -> None:
            given = Answer(ANSWER, "tucano/3", tokens_in=12, tokens_out=7)
            log.keep(f"{number:016x}{number:016x}", Ask("push", text), Routed(given, fault, ()), 0.25)

        yield answer
        sender.close()


def lost(metrics: Metrics) -> float:
    return next(float(row.split()[1]) for row in metrics.text().decode().splitlines() if row.startswith(LOST))


def shown(tracker: Tracker) -> list[Any]:
    """The traces of what was served, newest first."""
    found = tracker.client.get_experiment_by_name("tucano-serving")
    return [] if found is None else list(tracker.client.search_traces(locations=[found.experiment_id]))


def check_one_answer(tracker: Tracker, storage: Path) -> None:
    """A served answer is one trace, masked, with what an analyst asks for; nothing is lost or written elsewhere."""
    metrics = Metrics()
    with serving(tracker, storage, metrics) as answer:
        answer(1)
    (trace,) = shown(tracker)
    assert trace.info.trace_id == "tr-00000000000000010000000000000001"
    assert trace.info.execution_duration == 250 and trace.info.state == "OK"
    assert trace.info.token_usage == {"input_tokens": 12, "output_tokens": 7, "total_tokens": 19}
    (span,) = trace.data.spans
    assert span.inputs == {"task": "push", "prompt": "Crie um push para o CPF [CPF]."}
    assert span.outputs == "Ligue [PHONE] e peça!" and span.name == "push"
    assert {"task": "push", "by": "tucano/3", "valid": "yes"}.items() <= trace.info.tags.items()
    assert lost(metrics) == 0 and not (storage / FILE).exists()


def test_a_served_answer_is_a_masked_trace(tracker: Tracker, tmp_path: Path) -> None:
    check_one_answer(tracker, tmp_path)


def test_a_share_of_the_requests_is_traced_as_it_is_kept(tmp_path: Path) -> None:
    rows: list[Any] = []
    settings = ServingSettings(trace_requests=True, log_requests=True, log_share=0.5)
    with RequestLog(tmp_path, settings, Metrics(), rows.append) as log:
        for number in range(200):
            log.keep(f"{number:032x}", Ask("push", TEXT), Routed(Answer(ANSWER, "rules"), None, ()), 0.1)
    written = [json.loads(row) for row in (tmp_path / FILE).read_text(encoding="utf-8").splitlines()]
    assert rows == written and 50 <= len(rows) <= 150 and not ServingSettings().trace_requests


def test_a_store_that_is_away_costs_no_request_and_takes_later_what_could_wait(
    tracker: Tracker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One answer is being sent and five may wait: of eight, two are lost, and counted."""
    from mlflow.tracing.client import TracingClient

    whole, asked, back = TracingClient.log_spans, Event(), Event()

    def away(self: TracingClient, location: str, spans: list[Any]) -> Any:
        asked.set()
        if not back.is_set():
            raise MlflowException("connection refused")
        return whole(self, location, spans)

    monkeypatch.setattr(TracingClient, "log_spans", away)
    monkeypatch.setattr(traces, "WAITING", 5)
    metrics = Metrics()
    with serving(tracker, tmp_path, metrics) as answer:
        answer(1)
        assert asked.wait(60)
        for number in range(2, 9):
            answer(number)
        assert lost(metrics) == 2
        back.set()
    assert {trace.info.trace_id[-1] for trace in shown(tracker)} == set("123456") and lost(metrics) == 2


def test_a_store_that_never_comes_back_is_counted(
    tracker: Tracker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from mlflow.tracing.client import TracingClient

    def broken(*_: Any) -> None:
        raise ValueError("a fault of ours")

    monkeypatch.setattr(TracingClient, "log_spans", broken)
    metrics = Metrics()
    with serving(tracker, tmp_path, metrics) as answer:
        for number in range(1, 4):
            answer(number)
    assert lost(metrics) == 3 and caplog.text.count("MLflow takes no traces now (a fault of ours)") == 1


def test_the_oldest_traces_make_room(tracker: Tracker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line has some 280 bytes here: two of them stay within the 600 that leave room for a file of 300."""
    monkeypatch.setattr(traces, "BYTES", 300)
    monkeypatch.setattr(traces, "MOST_BYTES", 900)
    for number in range(1, 6):
        with serving(tracker, tmp_path, Metrics()) as answer:
            answer(number)
        time.sleep(0.01)
    kept = {trace.info.trace_id[-1] for trace in shown(tracker)}
    assert kept == set("345")


def test_traces_leave_the_machine_with_leave_only() -> None:
    settings = {"tracking_uri": "https://mlflow.example.com", "serving": {"trace_requests": True}}
    with pytest.raises(UserError, match=r"leave this machine for MLflow at mlflow\.example\.com.*allow_external"):
        what_leaves(validated(settings))
    for tracking_uri in ("postgresql:///mlflow?host=db.example.com", "postgresql://localhost/m?hostaddr=10.0.0.7,::1"):
        with pytest.raises(UserError, match=r"leave this machine for MLflow at (db\.example\.com|10\.0\.0\.7):"):
            what_leaves(validated(settings | {"tracking_uri": tracking_uri}))
    near = ("http://127.0.0.1:5000", "sqlite:////shop/mlflow.db", "postgresql:///m?host=/run/pg", "http://[::1]:5")
    for place in (*near, None):
        assert what_leaves(validated(settings | {"tracking_uri": place})) is None


# --- ratings --------------------------------------------------------------------------------------


def line(rater: str, rating: int, kind: RaterKind = "human", text: str = TEXT, answer: str = ANSWER) -> RatingLine:
    prompt = Prompt("p", "push", text, template="", source="s", licence="own")
    return RatingLine(
        prompt=prompt, completion=answer, origin="sampled", model="m", rater=rater, rater_kind=kind, rating=rating
    )


def beside(trace: Any) -> dict[str, object]:
    found = [one for one in trace.info.assessments if one.name == "rating"]
    assert all(one.source.source_type == "HUMAN" for one in found)
    return {one.source.source_id: one.value for one in found}


def check_ratings(tracker: Tracker, storage: Path) -> None:
    """A rating finds the answer by its masked text; said again it is one, and another one takes its place."""
    with serving(tracker, storage, Metrics()) as answer:
        answer(1)
        answer(2, "Outro pedido")
    masked = line("ana", 4, text="Crie um push para o CPF [CPF].", answer="Ligue [PHONE] e peça!")
    show_ratings(tracker, [masked, line("bia", 2), line("gpt", 5, "model"), line("ana", 3, text="Sem traço")])
    said = show_ratings(tracker, [masked, line("bia", 1), line("ana", 3, text="Sem traço")])
    assert said == "2 of 3 ratings stand beside traces of their answers"
    by_text = {trace.data.spans[0].inputs["prompt"]: beside(trace) for trace in shown(tracker)}
    assert by_text == {"Crie um push para o CPF [CPF].": {"ana": 4, "bia": 1}, "Outro pedido": {}}
    show_ratings(tracker, [], withdrawn=[masked])
    assert {"bia": 1} in [beside(trace) for trace in shown(tracker)]


def test_people_s_ratings_stand_beside_the_answer_once(tracker: Tracker, tmp_path: Path) -> None:
    check_ratings(tracker, tmp_path)


def test_who_corrects_what_was_served_rates_its_trace(tracker: Tracker, tmp_path: Path) -> None:
    metrics = Metrics()
    (tmp_path / FOLDER).mkdir()
    sender = Traces(tracker, tmp_path, metrics.not_traced.inc)
    settings = ServingSettings(trace_requests=True, log_requests=True)
    with RequestLog(tmp_path / FOLDER, settings, metrics, sender.offer) as log:
        log.keep("b" * 32, Ask("push", TEXT), Routed(Answer(ANSWER, "tucano/3"), None, ()), 0.1)
    sender.close()
    command = f"-m tucano.cli rate {tmp_path}/fixes --rater ana --correct --terminal --from {tmp_path}".split()
    done = subprocess.run([sys.executable, *command], input="4\n", capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and "1 of 1 rated" in done.stdout, done.stderr
    (trace,) = shown(tracker)
    assert beside(trace) == {"ana": 4}


def said_in(folder: Path, *ratings: RatingLine) -> None:
    rows = [one.model_dump_json() for one in ratings]
    (folder / "ratings.jsonl").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")


def test_what_is_taken_back_goes_from_mlflow_too(
    tracker: Tracker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(tracker, tmp_path, Metrics()) as answer:
        answer(1)
    said_in(tmp_path, line("ana", 4), line("bia", 2))
    with assessed(tmp_path, lambda: tracker, "ana"):
        pass
    assert [beside(trace) for trace in shown(tracker)] == [{"ana": 4}], "what others said is theirs to send"
    with assessed(tmp_path, lambda: tracker, "ana"):
        said_in(tmp_path, line("bia", 2))
    assert [beside(trace) for trace in shown(tracker)] == [{}]
    assert "1 of 1 ratings stand beside traces" in capsys.readouterr().out


@pytest.mark.parametrize(
    "fault",
    [Transient("it did not answer"), KeyboardInterrupt(), UserError("x"), MlflowException("no right to do that")],
)
def test_a_sitting_ends_well_while_mlflow_is_away(
    fault: BaseException, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def away() -> Tracker:
        raise fault

    said_in(tmp_path, line("ana", 4))
    with assessed(tmp_path, away):
        pass
    assert "does not show all of these ratings; the end of the next sitting sends them" in capsys.readouterr().out


def test_a_rating_finds_the_answer_of_an_evaluation_run(tracker: Tracker) -> None:
    """As those of `tucano try` do, which makes no traces."""
    run = tracker.start_evaluation("sft", {"arm": "sft"})
    tracker.show_answers({run: [Row("push", TEXT, ANSWER, 0.5, None, {}, "")]}, {})
    show_ratings(tracker, [line("ana", 5)])
    (trace,) = tracker.client.search_traces(locations=[tracker.experiments["tucano-evaluation"]], run_id=run)
    assert beside(trace) == {"ana": 5}


# --- system prompts -------------------------------------------------------------------------------


def check_prompts(tracker: Tracker) -> None:
    """A prompt for each task, a version for each text, and tags from either side to the other."""
    client = tracker.client
    client.create_registered_model("shop")
    for number, push in enumerate(("Curto.", "Curto.", "Longo: {{x}} {y}"), start=1):
        client.create_model_version("shop", "s3://nowhere/model")
        tracker.register_prompts("shop", number, {"push": push, "churn": "Risco?"})
    versions = {one.version: one for one in client.search_prompt_versions("shop.push")}
    assert {number: one.template for number, one in versions.items()} == {1: "Curto.", 2: "Longo: {{x}} {y}"}
    assert {"model.1": "shop/1", "model.2": "shop/2"}.items() <= versions[1].tags.items()
    assert [one.version for one in client.search_prompt_versions("shop.churn")] == [1]
    tags = client.get_model_version("shop", "3").tags
    assert tags == {"prompt.push": "shop.push/2", "prompt.churn": "shop.churn/1"}
    assert [model.name for model in client.search_registered_models()] == ["shop"]


def test_system_prompts_are_registered_when_their_text_changes(tracker: Tracker) -> None:
    check_prompts(tracker)


# --- through a server -----------------------------------------------------------------------------


@pytest.mark.services
def test_a_server_of_mlflow_takes_all_of_it(tmp_path: Path) -> None:
    (tmp_path / "mlflow").mkdir()
    with Server(tmp_path) as server:
        tracker = Tracker.connect(server.uri, tmp_path)
        check_one_answer(tracker, tmp_path)
        check_ratings(tracker, tmp_path)
        check_prompts(tracker)
