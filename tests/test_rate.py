"""`tucano rate`: blind, resumable, one line per rating; the page in a real browser, the terminal in a process."""

import base64
import itertools
import json
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import pytest
from browser import Page, open_page
from here import running
from odd_files import ODD, put_in_place
from storages import answered
from test_cli import sentence

from tucano.cli.rating.page import RatingServer, render
from tucano.errors import UserError
from tucano.prompts import TASKS, Prompt, Task
from tucano.rating.aids import guides
from tucano.rating.choices import Choosing
from tucano.rating.draw import Candidate, CandidateSource, draw, open_folder, read_source, write_candidates
from tucano.rating.files import RaterKind
from tucano.rating.ratings import read_ratings
from tucano.rating.session import Item, Session, View, own_order
from tucano.rating.store import tables
from tucano.specs.registry import spec_of

ROOT = Path(__file__).parent.parent
SECRET_MODEL = "seed-42-secreto"


def prompt(number: int, task: Task = "push") -> Prompt:
    text, reference = f"Crie um push para a promoção nº {number}.", {"terms": ["gabarito"]}
    return Prompt(f"{task}-{number}", task, text, "molde", "synthetic", "CC0", reference=reference)


def candidates(prompts: int = 3, completions: int = 2, tasks: tuple[Task, ...] = ("push",)) -> list[Candidate]:
    return [
        Candidate(prompt(number, task), f"Atenção: opção {number}.{place}, não perca! 🏃", "sampled", SECRET_MODEL)
        for task in tasks
        for number in range(prompts)
        for place in range(completions)
    ]


def candidate(completion: str = "Corre!") -> bytes:
    """A line of a file of completions."""
    asked = Prompt("push-0", "push", "Crie um push", "molde", "synthetic", "CC0")
    return json.dumps(asdict(Candidate(asked, completion, "sampled", "m"))).encode()


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "ratings.jsonl").read_text(encoding="utf-8").split("\n")[:-1]]


def current(session: Session | Choosing) -> Item:
    item = session.view().item
    assert isinstance(item, Item)
    return item


class TestDraw:
    def test_one_completion_of_each_reward_range_and_every_model_in_turn(self) -> None:
        pool = [Candidate(prompt(0), f"texto {rank}", "sampled", f"model-{rank % 2}") for rank in range(10)]
        quality = {candidate.id: rank / 10 for rank, candidate in enumerate(pool)}
        chosen = draw(CandidateSource(pool, [], quality), prompts=1, completions=5, seed=1)
        assert [int(candidate.completion.split()[1]) // 2 for candidate in chosen] == [0, 1, 2, 3, 4]
        assert max(Counter(candidate.model for candidate in chosen).values()) == 3

    def test_tasks_get_equally_many_prompts_and_a_seed_repeats_the_draw(self) -> None:
        source = CandidateSource(candidates(prompts=5, tasks=TASKS), [])
        chosen = draw(source, prompts=3, completions=1, seed=4)
        assert Counter(candidate.prompt.task for candidate in chosen) == dict.fromkeys(TASKS, 3)
        assert chosen == draw(source, 3, 1, 4) != draw(source, 3, 1, 5)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The storage of a finished run: two arms have answered two prompts, sampled twice and served once."""
    asked = [prompt(0, "sql_qa"), prompt(1, "push")]
    rows = [
        {"arm": arm, "prompt_id": one.id, "task": one.task, "decoding": decoding, "sample": sample}
        | {"completion": f"{decoding} {arm}\u2028{sample}", "reward": 0.123 + sample}
        for arm in ("base", "seed-42")
        for one in asked
        for decoding, sample in (("served", 0), ("sampled", 0), ("sampled", 1))
    ]
    store = "CREATE TABLE pedidos(pedido_id, mes); INSERT INTO pedidos VALUES(7, '2018-02'), (8, NULL);"
    return answered(tmp_path / "runs", asked, rows, store)


class TestSources:
    def test_a_run_gives_its_sampled_answers_and_its_store(self, run: Path, tmp_path: Path) -> None:
        chosen = open_folder(tmp_path / "ratings", run, 24, 5, 7)
        assert len(chosen) == 8 and {candidate.completion[:7] for candidate in chosen} == {"sampled"}
        assert tables(tmp_path / "ratings") == [("pedidos", ["pedido_id", "mes"], ["7", "2018-02"])]
        assert "reward" not in (tmp_path / "ratings" / "candidates.jsonl").read_text(encoding="utf-8")

    def test_a_changed_answer_is_not_rated(self, run: Path) -> None:
        (path,) = run.glob("artifacts/answers/*/answers.jsonl")
        path.write_text("", encoding="utf-8")
        with pytest.raises(UserError, match=r"answers\.jsonl was changed"):
            read_source(run)

    @pytest.mark.timeout(600)
    @pytest.mark.parametrize("kind", sorted(ODD.keys() - {"dangling link"}))
    @pytest.mark.parametrize("stage", ["answers", "data"])
    def test_a_run_whose_manifest_is_no_file(self, run: Path, stage: str, kind: str) -> None:
        put_in_place(kind, next(run.glob(f"artifacts/{stage}/*/manifest.json")))
        with pytest.raises(UserError, match=r"manifest\.json is damaged; the same tucano run makes it again"):
            read_source(run)

    def test_the_committed_ratings_can_be_rated_again(self, tmp_path: Path) -> None:
        chosen = open_folder(tmp_path / "mine", ROOT / "data" / "ratings" / "ratings.jsonl", 24, 5, 7)
        assert len(chosen) == 528
        assert (tmp_path / "mine" / "store.sql").read_bytes() == (ROOT / "data" / "ratings" / "store.sql").read_bytes()

    def test_what_is_drawn_from_a_file_is_kept_without_personal_data(self, tmp_path: Path) -> None:
        said = replace(prompt(0), user="Cliente 529.982.247-25 pede um push", demonstration="zap 98765 4321")
        write_candidates(
            tmp_path / "answers.jsonl",
            [Candidate(said, f"Escreva para ana @ gmail.com! {n}", "sampled", "m") for n in "ab"],
        )
        chosen = open_folder(tmp_path / "mine", tmp_path / "answers.jsonl", 24, 5, 7)
        assert {candidate.completion for candidate in chosen} == {"Escreva para [EMAIL]! a", "Escreva para [EMAIL]! b"}
        assert {(c.prompt.user, c.prompt.demonstration) for c in chosen} == {
            ("Cliente [CPF] pede um push", "zap [PHONE]")
        }
        session = Session(tmp_path / "mine", chosen, "ana", "human")
        session.say(current(session).id, "4")
        again = Session(
            tmp_path / "mine", open_folder(tmp_path / "mine", tmp_path / "answers.jsonl", 24, 5, 7), "ana", "human"
        )
        assert again.view().rated == 1
        kept = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "mine").iterdir())
        assert not re.search(r"529|9876|gmail", kept)

    def test_a_completion_is_rated_once(self, tmp_path: Path) -> None:
        """Two that differ in what is masked are one, and a line that somebody has doubled is named."""
        write_candidates(
            tmp_path / "answers.jsonl",
            [Candidate(prompt(0), f"Escreva para {who}@gmail.com!", "sampled", "m") for who in ("ana", "rui")],
        )
        drawn = open_folder(tmp_path / "mine", tmp_path / "answers.jsonl", 24, 5, 7)
        assert [candidate.completion for candidate in drawn] == ["Escreva para [EMAIL]!"]
        kept = tmp_path / "mine" / "candidates.jsonl"
        kept.write_text(2 * kept.read_text(encoding="utf-8"), encoding="utf-8")
        with pytest.raises(UserError, match=r"candidates\.jsonl line 2 has a completion that stands above it"):
            open_folder(tmp_path / "mine", tmp_path / "answers.jsonl", 24, 5, 7)


class TestSession:
    def test_raters_see_everything_in_orders_of_their_own_task_after_task(self) -> None:
        drawn = candidates(prompts=4, tasks=TASKS)
        ana, bia = own_order(drawn, "ana"), own_order(drawn, "bia")
        assert ana != bia and {one.id for one in ana} == {one.id for one in bia} == {one.id for one in drawn}
        assert ana == own_order(drawn, "ana")
        assert len(list(itertools.groupby(ana, key=lambda one: one.prompt.task))) == len(TASKS)

    def test_a_view_has_no_place_for_reward_model_or_origin(self, tmp_path: Path) -> None:
        assert [field.name for field in fields(View)] == ["item", "rated", "total", "last"]
        assert [field.name for field in fields(Item)] == ["id", "task", "prompt", "completion", "other"]
        session = Session(tmp_path, candidates(), "ana", "human")
        page = render(session.view(), session, [], "n")
        for secret in (SECRET_MODEL, "sampled", "molde", "gabarito", "reward", "push-0", "synthetic"):
            assert secret not in page

    def test_a_rating_is_a_line_that_the_audit_reads(self, tmp_path: Path) -> None:
        drawn = [Candidate(prompt(0), "com\u2028quebra\u0085", "written", "m")]
        Session(tmp_path, drawn, "ana", "human").say(drawn[0].id, "4")
        Session(tmp_path, drawn, "José", "model").say(drawn[0].id, "5")
        (answer,) = read_ratings(tmp_path)
        assert (answer.completion, answer.rating, answer.origin) == ("com\u2028quebra\u0085", 4.5, "written")
        assert answer.raters == {"ana": "human", "José": "model"}
        assert set(lines(tmp_path)[0]) == {"prompt", "completion", "origin", "model", "rating", "rater", "rater_kind"}

    @pytest.mark.parametrize(("cut", "kept"), [(1, [1, 2]), (2, [1]), (40, [1])])
    def test_a_torn_last_line_is_cut_off_and_a_whole_one_kept(self, tmp_path: Path, cut: int, kept: list[int]) -> None:
        session = Session(tmp_path, candidates(), "ana", "human")
        for rating in (1, 2):
            session.say(current(session).id, str(rating))
        path = tmp_path / "ratings.jsonl"
        path.write_bytes(path.read_bytes()[:-cut])
        again = Session(tmp_path, candidates(), "ana", "human")
        assert again.view().rated == len(kept)
        again.say(current(again).id, "5")
        assert [line["rating"] for line in lines(tmp_path)] == [*kept, 5]

    def test_undo_takes_back_the_own_last_rating_also_of_an_earlier_sitting(self, tmp_path: Path) -> None:
        ana = Session(tmp_path, candidates(), "ana", "human")
        first = current(ana)
        ana.say(first.id, "1")
        bia = Session(tmp_path, candidates(), "bia", "human")
        bia.say(current(bia).id, "2")
        again = Session(tmp_path, candidates(), "ana", "human")
        again.skip(first.id)
        again.undo()
        assert current(again) == first and again.view().rated == 0
        assert [(line["rater"], line["rating"]) for line in lines(tmp_path)] == [("bia", 2)]
        again.undo()
        assert bia.view().last == "2"

    @pytest.mark.parametrize(("other", "kind"), [("Ana ", "human"), ("ana", "model")])
    def test_raters_who_begin_together_shut_no_folder(self, tmp_path: Path, other: str, kind: RaterKind) -> None:
        first, second = (
            Session(tmp_path, candidates(), *who) for who in (("ana", "human"), (other, kind))
        )  # both before there is any line to look like
        rated = current(first).id
        first.say(rated, "4")
        with pytest.raises(UserError, match="before"):
            second.say(next(one.id for one in candidates() if one.id != rated), "2")
        first.say(current(first).id, "5")
        assert sorted(answer.rating for answer in read_ratings(tmp_path)) == [4, 5]

    def test_raters_at_the_same_time_lose_nothing(self, tmp_path: Path) -> None:
        def work(rater: str) -> None:
            session = Session(tmp_path, candidates(prompts=10), rater, "human")
            while item := session.view().item:
                session.say(item.id, "4")
                if session.view().rated % 5 == 0:
                    session.undo()
                    session.say(item.id, "2")

        raters = ("ana", "bia", "caio")
        with ThreadPoolExecutor() as threads:
            list(threads.map(work, raters))
        for rater in raters:
            assert Counter(line["rating"] for line in lines(tmp_path) if line["rater"] == rater) == {4: 16, 2: 4}


def test_the_guide_has_a_part_for_every_task() -> None:
    assert guides().keys() == set(TASKS)
    for task, text in guides().items():
        assert text.startswith(f"## {spec_of(task).display.guide}"), task
    assert all("O conteúdo está certo?" in text for text in guides().values())


def served(folder: Path, drawn: list[Candidate] | Session) -> AbstractContextManager[RatingServer]:
    session = drawn if isinstance(drawn, Session) else Session(folder, drawn, "ana", "human")
    return running(RatingServer(session, [], 0))


def got(url: str, **form: str) -> str:
    data = urllib.parse.urlencode(form).encode() if form else None
    with urllib.request.urlopen(url, data, timeout=600) as answer:
        return str(answer.read().decode("utf-8"))


class TestServer:
    def test_a_post_rates_and_leads_back_to_the_page(self, tmp_path: Path) -> None:
        with served(tmp_path, candidates()) as server:
            assert "0 de 6" in got(server.url) and "promoção nº" in got(server.url)
            item = current(server.session).id
            assert "1 de 6" in got(server.url, do="4", item=item)
            assert lines(tmp_path)[0]["rating"] == 4
            assert "0 de 6" in got(server.url, do="undo") and lines(tmp_path) == []

    def test_only_who_knows_the_link_can_read_or_write(self, tmp_path: Path) -> None:
        with served(tmp_path, candidates()) as server:
            item = current(server.session).id
            root = f"http://127.0.0.1:{server.server_port}/"
            for url in (root, f"{root}x/", server.url[:-1], f"{server.url}x"):
                for form in ({}, {"do": "5", "item": item}):
                    with pytest.raises(urllib.error.HTTPError, match="404"):
                        got(url, **form)
            assert server.server_address[0] == "127.0.0.1"
        assert not (tmp_path / "ratings.jsonl").exists()

    def test_nonsense_is_refused_and_nothing_is_written(self, tmp_path: Path) -> None:
        with served(tmp_path, candidates()) as server:
            item = current(server.session).id
            for form in (
                {"do": "6", "item": item},
                {"do": "4", "item": "x"},
                {"do": "4"},
                {"do": "%00", "item": item},
                {"x": "y" * 5000},
            ):
                with pytest.raises(urllib.error.HTTPError, match="400"):
                    got(server.url, **form)
        assert not (tmp_path / "ratings.jsonl").exists()

    def test_texts_are_escaped_and_the_page_allows_no_script_but_its_own(self, tmp_path: Path) -> None:
        evil = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>"
        drawn = [Candidate(prompt(0), evil, "sampled", "m")]
        with served(tmp_path, drawn) as server, urllib.request.urlopen(server.url, timeout=600) as answer:
            page, policy = answer.read().decode(), answer.headers["Content-Security-Policy"]
        assert "<script>alert" not in page and "&lt;script&gt;alert(1)" in page and "<img" not in page
        nonce = re.search(r'<script nonce="([^"]+)">', page)
        assert nonce and policy.startswith("default-src 'none'") and f"script-src 'nonce-{nonce.group(1)}'" in policy


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-u", "-m", "tucano.cli", "rate", *arguments]


def tucano_rate(*arguments: str, keys: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), cwd=ROOT, input=keys, capture_output=True, encoding="utf-8", timeout=900, check=False
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A rating folder with six completions, none rated."""
    (tmp_path / "mine").mkdir()
    write_candidates(tmp_path / "mine" / "candidates.jsonl", candidates())
    return tmp_path / "mine"


class TestTerminal:
    def test_keys_rate_skip_undo_and_show_the_guide(self, folder: Path) -> None:
        result = tucano_rate(str(folder), "--rater", "ana", "--terminal", keys="4\nu\n9\n?\n3\ns\n5\n\n")
        assert result.returncode == 0, result.stderr
        assert [line["rating"] for line in lines(folder)] == [3, 5]
        assert "2 de 6 · Push" in result.stdout and "promoção nº" in result.stdout and "cabe na tela" in result.stdout
        assert SECRET_MODEL not in result.stdout
        assert result.stdout.endswith(
            f"ana: 2 of 6 rated, in {folder}/ratings.jsonl\nGo on with: tucano rate {folder} --rater ana --terminal\n"
        )

    def test_a_run_is_drawn_and_rated_with_its_tables(self, run: Path, tmp_path: Path) -> None:
        result = tucano_rate(str(tmp_path / "new"), "--rater", "bia", "--from", str(run), "--terminal", keys="2\n" * 8)
        assert result.returncode == 0 and "pedidos(pedido_id, mes)   ex.: 7, 2018-02" in result.stdout
        assert f"8 completions drawn from {run} (sql_qa 4, push 4)" in result.stdout
        assert {line["model"] for line in lines(tmp_path / "new")} == {"base", "seed-42"}
        assert "seed-42" not in re.sub(r"sampled seed-42", "", result.stdout)


class TestMistakes:
    """Each is one sentence."""

    def refused(self, folder: Path, *arguments: str) -> str:
        said = sentence("rate", str(folder), *arguments, "--terminal")
        assert "\n" not in said
        return said

    def not_drawn(self, place: Path) -> str:
        folder = place.parent / "new"
        said = self.refused(folder, "--rater", "ana", "--from", str(place))
        assert not folder.exists()
        return said

    def test_no_such_run_and_a_storage_without_answers(self, tmp_path: Path) -> None:
        assert f"{tmp_path / 'nowhere'} does not exist" in self.not_drawn(tmp_path / "nowhere")
        assert "holds no answers of a finished run" in self.not_drawn(tmp_path)

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            (b"", "holds no completions"),
            (b'{"prompt": {"id": "a"}, "completion": "b"}\n', "line 1 is not a completion"),
            (json.dumps(asdict(prompt(0))).encode(), "line 1 is not a completion with its prompt (prompt: Field required)"),
            (b"not json\n", "line 1 is not a completion"),
            (b"\xff\xfe\n", "is not UTF-8 text"),
            (candidate().replace(b'"user": ', b'"user": "a", "user": '), "line 1 is not a completion with its prompt (a name"),
            (candidate().replace(b'"completion": ', b'"completion": "a", "completion": '), "(a name is given twice"),
            (candidate().replace(b"{}", b'{"product": "bolsa", "product": "mala"}'), "(a name is given twice"),
            (candidate().replace(b"{}", b'{"product": "bolsa", "preco": NaN}'), "(a number is too long, or none)"),
            (candidate(completion="a\0b"), "(a text of it holds a zero byte)"),
        ],
    )  # fmt: skip
    def test_a_file_without_completions(self, tmp_path: Path, content: bytes, says: str) -> None:
        (tmp_path / "file.jsonl").write_bytes(content)
        with pytest.raises(UserError) as refused:
            read_source(tmp_path / "file.jsonl")
        assert says in str(refused.value)

    def test_what_only_looks_like_a_zero_byte_is_a_completion(self, tmp_path: Path) -> None:
        (tmp_path / "file.jsonl").write_bytes(candidate(completion="a\\u0000"))
        assert [found.completion for found in read_source(tmp_path / "file.jsonl").candidates] == ["a\\u0000"]

    def test_an_answer_with_a_zero_byte_is_not_drawn(self, tmp_path: Path) -> None:
        """A rating folder with it could not be read."""
        asked = [prompt(0)]
        rows = [
            {"arm": "a", "prompt_id": "push-0", "task": "push", "completion": text, "decoding": "sampled"}
            for text in ("Corre!", "a\0")
        ]
        found = read_source(answered(tmp_path / "runs", asked, rows, "CREATE TABLE t(a);"))
        assert [candidate.completion for candidate in found.candidates] == ["Corre!"]

    def test_two_prompts_under_one_id_and_sql_without_its_store(self, tmp_path: Path) -> None:
        path = tmp_path / "file.jsonl"
        other = Prompt("push-0", "push", "outro", "t", "s", "l")
        write_candidates(path, [*candidates(), Candidate(other, "x", "sampled", "m")])
        assert "line 7 has another prompt under the id 'push-0'" in self.not_drawn(path)
        write_candidates(path, candidates(tasks=("sql_qa",)))
        assert "has SQL questions but no store.sql" in self.not_drawn(path)

    def test_an_unknown_rater(self, folder: Path) -> None:
        session = Session(folder, candidates(), "ana", "human")
        session.say(current(session).id, "3")
        assert "there is no rater 'anna'" in self.refused(folder, "--rater", "anna")
        assert tucano_rate(str(folder), "--rater", "bia", "--new-rater", "--terminal").returncode == 0
        assert "is a human" in self.refused(folder, "--rater", "ana", "--kind", "model")
        assert "is not a name" in self.refused(folder, "--rater", " ")
        assert "rater 'Ana' looks like 'ana'" in self.refused(folder, "--rater", "Ana", "--new-rater")
        assert "of at most 200 visible characters" in self.refused(folder, "--rater", "a" * 201)


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    with open_page(tmp_path) as page:
        yield page


@contextmanager
def command_serves(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`tucano rate` in a process of its own, and the link that it prints."""
    process = subprocess.Popen(
        command(str(folder), "--rater", "ana"), cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8"
    )
    try:
        assert process.stdout is not None
        link = next(line.strip() for line in process.stdout if "http://127.0.0.1:" in line)
        yield process, link
    finally:
        process.kill()
        process.wait()


def ended(process: subprocess.Popen[str]) -> str:
    process.send_signal(signal.SIGINT)
    printed, _ = process.communicate(timeout=600)
    assert process.returncode == 0
    return printed


ANSWER = "document.querySelector('.answer pre').textContent"


def test_a_person_rates_in_a_browser_with_the_keyboard_alone(folder: Path, page: Page) -> None:
    """Every prompt and answer tries to run a script; one that ran would leave its mark."""
    script = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
    asked = [replace(prompt(number), user=script) for number in range(7)]
    drawn = [Candidate(one, f"Opção: {script}\n ação, é «útil» 🏃 {one.id}", "sampled", "m") for one in asked]
    write_candidates(folder / "candidates.jsonl", drawn)
    order = [one.completion for one in own_order(drawn, "ana")]
    with command_serves(folder) as (process, link):
        page.call("Page.navigate", url=link)
        page.wait_for_count("0 de 7")
        assert page.evaluate("document.documentElement.lang + ' ' + document.characterSet") == "pt-BR UTF-8"
        assert page.evaluate(ANSWER) == order[0]
        page.press("4")
        page.wait_for_count("1 de 7")
        page.call("Page.reload")
        page.wait_for_count("1 de 7")
        assert page.evaluate(ANSWER) == order[1]
        page.press("2")
        page.wait_for_count("2 de 7")
        page.press("u")
        page.wait_for_count("1 de 7")
        page.press("S")
        page.wait_for(ANSWER, order[2])
        assert [line["rating"] for line in lines(folder)] == [4]
        rates_by_focus_and_space(page)
        guide_is_hidden_and_shown(page)
        assert "ana: 2 of 7 rated" in ended(process)
    with command_serves(folder) as (process, link):
        page.call("Page.navigate", url=link)
        page.wait_for_count("2 de 7")
        seen = set()
        for count in range(3, 8):
            seen.add(page.evaluate(ANSWER))
            assert page.evaluate("window.hacked") is None
            page.press("5")
            page.wait_for_count(f"{count} de 7")
        assert seen == {order[1], *order[3:]}
        assert "Tudo avaliado" in page.evaluate("document.body.innerText")
        assert "Audit with them: tucano audit laptop" in ended(process)
    assert {line["completion"]: line["rating"] for line in lines(folder)} == {
        one: {order[0]: 4, order[2]: 3}.get(one, 5) for one in order
    }


def rates_by_focus_and_space(page: Page) -> None:
    """Tab goes from the answer over the guide to the ratings, and what has the focus is seen."""
    for _ in range(4):
        page.press("Tab")
    assert page.evaluate("document.activeElement.value") == "3"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineWidth") == "3px"
    page.press(" ")
    page.wait_for_count("2 de 7")


def guide_is_hidden_and_shown(page: Page) -> None:
    assert "uma notificação no celular" in page.evaluate("document.getElementById('guide').innerText")
    page.press("?")
    page.wait_for("document.getElementById('guide').hidden", True)
    page.call("Page.reload")
    page.wait_for_count("2 de 7")
    assert page.evaluate("document.getElementById('guide').hidden") is True
    page.press("?")
    page.wait_for("document.getElementById('guide').hidden", False)
    assert base64.b64decode(page.call("Page.captureScreenshot", format="png")["data"]).startswith(b"\x89PNG")
