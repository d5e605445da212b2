"""A bundle is the same whenever it is packed, holds together, and says what somebody changed; none does harm."""

import gzip
import hashlib
import io
import json
import os
import shutil
import tarfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from bundles import OVERRIDES, SEEDS, Champion, Made, Settings, champion, other_reward

from tucano.bundle import archive, command
from tucano.bundle.checks import held, looks
from tucano.bundle.manifest import ARTIFACTS, CARD, NAME, Entry, Manifest
from tucano.bundle.pack import Packed, pack
from tucano.bundle.reading import Holds, unpacked
from tucano.comparison.compare import Comparison
from tucano.errors import UserError


def packed(made: Champion, out: Path, consent: str | None = None) -> Packed:
    return pack(made.root, made.version, made.model, made.ratings, consent, out)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("champion")
    packed(champion(home), home / "whole.tar.gz")
    return home / "whole.tar.gz"


@dataclass
class Opened:
    """A bundle as a forger has it: every file in a folder, and the manifest."""

    root: Path
    manifest: Manifest

    def file(self, pattern: str) -> Path:
        found = sorted(self.root.glob(pattern))
        assert found, pattern
        return found[0]

    def edit(self, pattern: str, old: str, new: str) -> None:
        path = self.file(pattern)
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.unlink()  # files of the same content are one on this disk
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def files(self) -> dict[str, bytes]:
        paths = [path for path in sorted(self.root.rglob("*")) if path.is_file()]
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in paths}

    def fit(self) -> None:
        """The manifest lists what is there now."""
        entries = {name: Entry(len(held), hashlib.sha256(held).hexdigest()) for name, held in self.files().items()}
        self.manifest = replace(self.manifest, files=entries)

    def pack(self, out: Path) -> Path:
        """With the library's own writer, a second way to the same format."""
        with tarfile.open(out, "w:gz", format=tarfile.USTAR_FORMAT) as tar:
            for name, content in {NAME: self.manifest.text(), **self.files()}.items():
                tar.addfile(member(name, content)[0], io.BytesIO(content))
        return out


@pytest.fixture
def opened(whole: Path, tmp_path: Path) -> Opened:
    root = tmp_path / "opened"
    root.mkdir()
    return Opened(root, archive.unpack(whole, root))


def said(path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, str]]:
    """The exit code of `tucano verify`, and what it says under each check, its mark first."""
    code = command.verify(path)
    rows: dict[str, str] = {}
    name = ""
    for line in capsys.readouterr().out.splitlines()[1:-1]:
        name = line[8:23].strip() or name
        rows[name] = f"{rows.get(name, line[:6].strip())} {line[34:]}"
    return code, rows


def found(path: Path, check: str, folder: Path) -> str:
    """What one check says of a bundle, its mark first."""
    folder.mkdir()
    contents = unpacked(folder, archive.unpack(path, folder))
    made = held(looks(folder, contents)[check])
    return f"{made.state} {' '.join(made.said)}"


def test_what_was_packed_is_whole_and_the_same_whenever_it_is_packed(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, rows = said(whole, capsys)
    assert code == 0 and {row.split()[0] for row in rows.values()} == {"ok"}, rows
    assert "72 rewards and truths are what they were" in rows["answers"]  # 4 arms, 6 prompts, as many answers of each
    home = whole.parent
    again = Champion(home / "runs", _version(whole), home / "version", home / "ratings")
    assert packed(again, tmp_path / "again.tar.gz").bytes == whole.stat().st_size
    assert (tmp_path / "again.tar.gz").read_bytes() == whole.read_bytes()


def _version(whole: Path) -> Any:
    from tucano.tracking import RegisteredModel

    with tarfile.open(whole) as tar:
        first = tar.extractfile(NAME)
        assert first is not None
        tags = json.load(first)["tags"]
    return RegisteredModel("tucano", 1, "run", "", tags)


def _swap(bundle: Opened) -> None:
    one, other = (bundle.file(f"{ARTIFACTS}/grpo-seed-{seed}/*/adapter/*.safetensors") for seed in (42, 123))
    contents = one.read_bytes(), other.read_bytes()
    for path, content in zip((one, other), reversed(contents), strict=True):
        path.unlink()
        path.write_bytes(content)


def _rename(bundle: Opened) -> None:
    path = bundle.file(f"{ARTIFACTS}/merged/*/model/*.safetensors")
    path.rename(path.with_name("other.safetensors"))


def edits(pattern: str, old: str, new: str) -> Callable[[Opened], object]:
    return lambda bundle: bundle.edit(pattern, old, new)


def _lose(bundle: Opened) -> None:
    bundle.file("artifacts/plan/*/manifest.json").unlink()


WEIGHT = edits("model/data/data/model/*", "merged", "Merged")
CHANGED: dict[str, tuple[Callable[[Opened], object], str]] = {
    "a weight": (WEIGHT, "model.safetensors was changed"),
    "a further file": (lambda bundle: (bundle.root / "model" / "run.py").touch(), "model/run.py was added"),
    "a file less": (_lose, "manifest.json is missing"),
    "another name": (_rename, "model.safetensors is called artifacts/merged/"),
    "swapped seeds": (_swap, "adapter/model.safetensors was changed"),
}
"""What somebody changes in a bundle, and what is said of its files."""
FITTED: dict[str, tuple[Callable[[Opened], object], str, str]] = {
    "a weight": (WEIGHT, "registry", "the files in model/ are not those that were registered"),
    "an answer": (edits("artifacts/answers/*/answers.jsonl", "Veja", "Vejam"), "artifacts", "answers.jsonl was changed"),
    "a rating": (edits("ratings/*", "4", "5"), "ratings", "ratings.jsonl is not what the audit read"),
    "a setting": (
        edits("artifacts/report/*/settings.json", "0.0015", "0.0025"), "settings", "with another grpo.learning_rate than"
    ),
    "a figure": (
        edits("artifacts/comparison/*/comparison.json", '"n": 6', '"n": 9'), "verdict", "overall.n: 9 there, 6 here"
    ),
    "a code version": (edits("artifacts/data/*/manifest.json", '"code": "', '"code": "0'), "artifacts", "was edited"),
    "the card": (edits(CARD, "tucano version 1", "tucano version 2"), "model card", "is not the card of what is in here"),
    "a file less": (_lose, "artifacts", "plan: no artifact has the digest"),
    "another name": (_rename, "artifacts", "it holds a file that it was not made with"),
    "swapped seeds": (_swap, "artifacts", "grpo-seed-42: its file"),
}  # fmt: skip
"""The same by somebody who lets the list of files fit: check, and sentence."""


@pytest.mark.parametrize(("change", "said"), CHANGED.values(), ids=CHANGED)
def test_what_was_changed_is_named(
    change: Callable[[Opened], object], said: str, opened: Opened, tmp_path: Path
) -> None:
    change(opened)
    told = found(opened.pack(tmp_path / "changed.tar.gz"), "files", tmp_path / "again")
    assert told.startswith("FAILED") and said in told


@pytest.mark.parametrize("name", FITTED)
def test_what_was_changed_is_named_where_the_list_of_files_fits(name: str, opened: Opened, tmp_path: Path) -> None:
    change, check, said = FITTED[name]
    change(opened)
    opened.fit()
    path = opened.pack(tmp_path / "changed.tar.gz")
    assert found(path, "files", tmp_path / "files").startswith("ok")
    told = found(path, check, tmp_path / "check")
    assert told.startswith("FAILED") and said in told


def _flattered(comparison: Comparison) -> Comparison:
    main = replace(comparison.main, overall=replace(comparison.main.overall, p=0.001))
    return replace(comparison, contrasts=(main, *comparison.contrasts[1:]))


def _hotter(settings: Settings) -> Settings:
    return {**settings, "seed": 8}


def _judged(name: str, value: Any) -> Made:
    """A verdict by another setting than the run's, and its stage says the same."""

    def by(settings: Settings) -> Settings:
        return {**settings, "comparison": {**settings["comparison"], name: value}}

    return Made(comparison=lambda comparison: replace(comparison, **{name: value}), received={"comparison": by})


GIVEN_UP = (*OVERRIDES, f"grpo.seeds={[*SEEDS, 456]}")


SEALED: dict[str, tuple[Made, str, str]] = {
    "a reward": (Made(answers=other_reward), "answers", "seed-42, served answer 0 to push-0: reward"),
    "a figure": (Made(comparison=_flattered), "verdict", "contrasts.0.overall.p: 0.001 there"),
    "a setting": (Made(received={"sft": _hotter}), "settings", "sft was made with another seed than the settings say"),
    "alpha": (_judged("alpha", 0.1), "settings", "comparison was made with another comparison.alpha than the settings"),
    "a verdict by another alpha": (_judged("alpha", 0.1), "verdict", "alpha: 0.1 there, 0.05 here"),
    "a seed that was given up": (Made(overrides=GIVEN_UP), "settings", "another list of missing seeds than the"),
    "a licence": (Made(tags={"licences": "MIT"}), "registry", "says 'MIT' of licences, and the artifacts say 'CC0-1.0'"),
    "the licence of its prompts": (
        Made(licences=["MIT"], tags={"licences": "MIT"}), "registry",
        "the data stage says MIT of licences, and its prompts say CC0-1.0",
    ),
    "an audit": (Made(tags={"audit": "failed"}), "registry", "says 'failed' of audit, and the artifacts say 'passed'"),
    "the seed": (Made(registered=123), "registry", "seed-42 is best on validation, and another seed was registered"),
}  # fmt: skip
"""The same by somebody who makes every digest anew."""


@pytest.mark.parametrize("name", SEALED)
def test_what_was_changed_is_named_where_every_digest_fits(name: str, tmp_path: Path) -> None:
    made, check, sentence = SEALED[name]
    packed(champion(tmp_path, made), tmp_path / "forged.tar.gz")
    for well in ("files", "artifacts"):
        assert found(tmp_path / "forged.tar.gz", well, tmp_path / well).startswith("ok")
    said_of_it = found(tmp_path / "forged.tar.gz", check, tmp_path / "check")
    assert said_of_it.startswith("FAILED") and sentence in said_of_it


def test_a_seed_that_was_given_up_is_no_fault_where_the_comparison_says_so(tmp_path: Path) -> None:
    received: dict[str, Any] = {"comparison": lambda settings: {**settings, "missing": [[456, "no memory"]]}}
    made = Made(overrides=GIVEN_UP, received=received)
    packed(champion(tmp_path, made), tmp_path / "whole.tar.gz")
    assert found(tmp_path / "whole.tar.gz", "settings", tmp_path / "check").startswith("ok")


def _older(settings: Settings) -> Settings:
    """Of a version that had other names, outside and inside."""
    plain = {name: value for name, value in settings.items() if name != "trainings"}
    grpo = {name: value for name, value in settings["grpo"].items() if name != "std_floor"}
    return {**plain, "seeds": [42, 123], "grpo": grpo}


@pytest.mark.parametrize("code", ["0" * 16, None], ids=["other code", "this code"])
def test_names_of_settings_that_only_one_side_knows_are_no_fault_of_other_code(
    code: str | None, tmp_path: Path
) -> None:
    packed(champion(tmp_path, Made(received={"preflight": _older}, code=code)), tmp_path / "older.tar.gz")
    said_of_it = found(tmp_path / "older.tar.gz", "settings", tmp_path / "check")
    if code is None:
        assert said_of_it.startswith("FAILED the settings of preflight differ in lacking grpo.std_floor, and its code")
    else:
        names = "having seeds and in lacking grpo.std_floor, trainings"
        assert said_of_it == f"OTHER preflight was made by other code, whose settings differ in {names}"


def test_the_card_has_the_header_of_a_hub_and_the_verdict_in_both_languages(opened: Opened) -> None:
    text = (opened.root / CARD).read_text(encoding="utf-8")
    header = yaml.safe_load(text.split("---\n")[1])
    assert (header["language"], header["license"], header["datasets"]) == (["pt"], "cc0-1.0", ["synthetic"])
    assert "base_model" not in header and header["model-index"][0]["results"][0]["metrics"][0]["type"] == "reward"
    comparison = json.loads(opened.file("artifacts/comparison/*/comparison.json").read_text(encoding="utf-8"))
    effect = comparison["contrasts"][0]["overall"]
    row = next(line for line in text.splitlines() if line.startswith("| overall"))
    assert f"{effect['gain']:+.3f}" in row and "## Resumo em português" in text
    assert comparison["verdict"]["headline"] in text.replace("\\", "")


@pytest.mark.parametrize(
    ("overrides", "what"),
    [
        (["data.source=jsonl", "data.path=own.jsonl"], "jsonl"),
        (["data.general.share=0.1", "data.general.path=chats.jsonl"], "data.general.path"),
        (["audit.ratings=ours"], "audit.ratings"),
        (["benchmark.enem=enem", "benchmark.faquad=faquad"], "benchmark.enem, benchmark.faquad"),
    ],
)
def test_texts_of_others_need_somebody_who_answers_for_them(overrides: list[str], what: str, tmp_path: Path) -> None:
    made = champion(tmp_path, Made(overrides=(*OVERRIDES, *overrides)))
    with pytest.raises(UserError, match=rf"would hold texts of others \({what}\).*--consent NAME"):
        packed(made, tmp_path / "own.tar.gz")
    assert not (tmp_path / "own.tar.gz").exists()
    if what == "jsonl":
        done = packed(made, tmp_path / "own.tar.gz", consent="Ana Souza")
        assert done.manifest.consent == "Ana Souza" and "it holds texts of others (jsonl)" in done.warnings


def test_a_broken_chain_and_other_ratings_are_not_packed(tmp_path: Path) -> None:
    made = champion(tmp_path)
    (made.ratings / "ratings.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(UserError, match="is not what the audit read any more"):
        packed(made, tmp_path / "a.tar.gz")
    shutil.rmtree(made.root / ARTIFACTS / "plan")
    with pytest.raises(UserError, match="cannot be passed on: plan: no artifact has the digest"):
        packed(made, tmp_path / "a.tar.gz")


MANIFEST = Manifest(1, "tucano", 1, {}, {}, None, {}, {})


def tar_of(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for info, content in members:
            tar.addfile(info, io.BytesIO(content))
    return file.getvalue()


def member(
    name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE, to: str = ""
) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = len(content), kind, to
    return info, content


FIRST = member(NAME, MANIFEST.text())
PLAIN = (
    '{"schema_version": 1, "model": "a", "version": 1, "tags": {}, "chain": {}, "consent": null, "packages": {},'
    ' "files": {}}'
)


def hostile() -> Iterator[tuple[str, bytes, str]]:
    """What it is, the file, and what is said of it."""
    for name in ("../out", "/out", "a/../../out", "a/./b", ".out", "a\\b", "a\nb", "y" * 150 + "/" + "x" * 99):
        yield f"called {name[:9]!r}", gzip.compress(tar_of(FIRST, member(name, b"x"))), "which no bundle has"
    for kind, what in ((tarfile.SYMTYPE, "a link"), (tarfile.LNKTYPE, "a hard link"), (tarfile.CHRTYPE, "a device")):
        yield what, gzip.compress(tar_of(FIRST, member("a", kind=kind, to="/etc/passwd"))), "is no file but"
    for kind, what in ((tarfile.FIFOTYPE, "a pipe"), (tarfile.DIRTYPE, "a folder"), (tarfile.GNUTYPE_SPARSE, "holes")):
        yield what, gzip.compress(tar_of(FIRST, member("a", kind=kind))), "is no file but"
    yield "a long header", gzip.compress(tar_of(FIRST, member("a", b"1" * 99, tarfile.XHDTYPE))), "is no file but"
    yield "twice", gzip.compress(tar_of(FIRST, member("a", b"1"), member("A", b"2"))), "holds 'A' twice"
    yield "file and folder", gzip.compress(tar_of(FIRST, member("a", b"1"), member("a/b", b"2"))), "as a file and as a"
    yield "a bomb", gzip.compress(tar_of(FIRST, member("a", bytes(2**26 + 2**25)))), "far larger than any bundle"
    listed = replace(MANIFEST, files={f"f{n}": Entry(2**30, "", "f0") for n in range(60)})
    yield "copies", gzip.compress(tar_of(member(NAME, listed.text()), member("f0", b"x"))), "far larger than any bundle"
    many = replace(MANIFEST, files={"a": Entry(2**40, "")})
    yield "a large promise", gzip.compress(tar_of(member(NAME, many.text()))), "more than a bundle may hold"
    below = replace(MANIFEST, files={"../a": Entry(1, "")})
    yield "a promise elsewhere", gzip.compress(tar_of(member(NAME, below.text()))), "which no bundle has"
    yield "no manifest", gzip.compress(tar_of(member("a", b"x"))), "its first file is not bundle.json"
    yield "deep", gzip.compress(tar_of(member(NAME, b"[" * 100_000))), "is damaged"
    for what, value, other in (
        ("half a character", '"model": ', '"model": "\\ud83d", "m": '),
        ("a name twice", '"version": 1', '"version": 1, "version": 2'),
        ("true for a number", '"version": 1', '"version": true'),
        ("below one", '"version": 1', '"version": -1'),
        ("true for the schema", '"schema_version": 1', '"schema_version": true'),
    ):
        forged = PLAIN.replace(value, other)
        assert forged != PLAIN
        yield what, gzip.compress(tar_of(member(NAME, forged.encode()))), "is damaged"
    for stage in ("/etc", "../artifacts", ""):
        away = replace(MANIFEST, chain={stage: "a"})
        yield f"a stage {stage!r}", gzip.compress(tar_of(member(NAME, away.text()))), "which no run has"
    yield "no text", gzip.compress(tar_of(member(NAME, b"\xff"))), "is damaged"
    yield "cut", gzip.compress(tar_of(FIRST))[:-200], "no whole bundle"
    yield "no gzip", b"PK\x03\x04", "no whole bundle"
    yield "no tar", gzip.compress(b"x" * 2048), "no whole bundle"
    yield "more behind", gzip.compress(tar_of(FIRST) + b"x"), "something stands behind its end"


@pytest.mark.parametrize(("content", "sentence"), [pytest.param(*rest, id=name) for name, *rest in hostile()])
def test_a_hostile_archive_is_refused_in_one_sentence_and_nothing_lies_outside(
    content: bytes, sentence: str, tmp_path: Path
) -> None:
    folder, path = tmp_path / "in" / "side", tmp_path / "in" / "b.tar.gz"
    folder.mkdir(parents=True)
    path.write_bytes(content)
    with pytest.raises(UserError) as refused:
        archive.unpack(path, folder)
    assert sentence in str(refused.value) and "\n" not in str(refused.value)
    assert not list(tmp_path.rglob("*out*"))
    assert {p.name for p in (tmp_path / "in").iterdir()} == {"b.tar.gz", "side"}
    assert not any(found.is_symlink() for found in folder.rglob("*"))


def test_a_pipe_is_no_bundle_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", tmp_path):
        with pytest.raises(UserError, match="is no file; name a bundle"):
            archive.unpack(place, tmp_path)


def test_what_cannot_be_read_is_a_failed_check_and_no_traceback(
    opened: Opened, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for pattern in ("answers/*/answers.jsonl", "report/*/settings.json", "data/*/test.jsonl"):
        path = opened.file(f"artifacts/{pattern}")
        path.unlink()
        path.write_text('{"id": [[1]]}\n', encoding="utf-8")
    opened.fit()
    code, rows = said(opened.pack(tmp_path / "odd.tar.gz"), capsys)
    unmade = {name for name, row in rows.items() if "cannot be made" in row}
    assert code == 1 and unmade >= {"answers", "settings", "verdict"}


class Odd(Exception):
    """A kind of error that nobody thought of."""


def test_whatever_a_check_ends_in_is_a_sentence() -> None:
    def look() -> Holds:
        raise Odd("nobody thought of it")

    assert held(look).said == ("it cannot be made: Odd: nobody thought of it",)


def test_a_bundle_takes_the_place_of_nothing_but_a_bundle(whole: Path, tmp_path: Path) -> None:
    older = tmp_path / "older.tar.gz"
    shutil.copy(whole, older)
    archive.require_place(older)
    archive.require_place(tmp_path / "new.tar.gz")
    notes = tmp_path / "notes.txt"
    notes.write_text("precious", encoding="utf-8")
    (tmp_path / "link.tar.gz").symlink_to(older)
    for place, said in (
        (notes, "another file than a bundle"), (tmp_path, "is no file"), (tmp_path / "link.tar.gz", "is no file"),
        (Path("/proc/x.tar.gz"), "nothing can be written"), (tmp_path / "nowhere" / "x.tar.gz", "no folder"),
    ):  # fmt: skip
        with pytest.raises(UserError, match=said):
            archive.require_place(place)
    assert notes.read_text(encoding="utf-8") == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.tar.gz", "notes.txt", "older.tar.gz"]


def test_two_processes_that_pack_for_one_place_do_not_touch_each_other(whole: Path, tmp_path: Path) -> None:
    """Each replaces the bundle as a whole; the later one stays."""
    place = tmp_path / "x.tar.gz"
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for made in [pool.submit(packed_often, whole, place) for _ in range(2)]:
            made.result()
    assert place.read_bytes() == whole.read_bytes() and [*tmp_path.iterdir()] == [place]


def packed_often(whole: Path, place: Path) -> None:
    with TemporaryDirectory() as folder:
        manifest = archive.unpack(whole, Path(folder))
        sources = {name: Path(folder) / name for name in manifest.files}
        for _ in range(5):
            archive.require_place(place)
            archive.write(place, manifest, sources)


def test_a_bundle_that_is_not_finished_leaves_nothing(tmp_path: Path) -> None:
    listed = replace(MANIFEST, files={"gone": Entry(1, "0" * 64)})
    with pytest.raises(FileNotFoundError):
        archive.write(tmp_path / "x.tar.gz", listed, {"gone": tmp_path / "gone"})
    assert list(tmp_path.iterdir()) == []
