"""What README and docs/ name is there: settings with their defaults, commands with their options, files, names."""

import contextlib
import importlib.util
import io
import json
import re
import shlex
import subprocess
import sys
import tomllib
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from tucano.cli import main as cli
from tucano.errors import UserError
from tucano.profiles import load_profile, profiles, setting_types
from tucano.settings import PipelineSettings

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
"""LOG.md and CHANGELOG.md tell history; what a guide names is there once it was followed (tests/test_guides.py)."""
GENERATED = {ROOT / "docs" / "settings.md"}
"""Whole pages that other tests compare with their generators."""
SETTINGS = setting_types(PipelineSettings)
SECTIONS = {name.partition(".")[0] for name in SETTINGS if "." in name}
FOLDERS = ("benchmarks", "data", "deployments", "docs", "flows", "rewards", "tasks", "tests", "tucano")
PROGRAMS = ("tucano", "make", "python", "pip")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)|(?:src|href|srcset)=\"([^\"#]+)\"")
PLACEHOLDER = re.compile(r"<[^>]+>|…|\.\.\.|\*|\b[A-Z]{1,9}\b")
"""What stands for something else: <stage>, TASK, N, …"""
WRITTEN_BY_RUNS = {"setup.log", "prefect.log.1", "journal.jsonl.commit", "journal.jsonl.cursor", "data/data/model"}
"""Names of files that the program puts together from parts."""
OF_OTHERS = {
    "--env-manager local", "--env.taskset.", "--env.taskset.tasks push", "--limit 20",
    "AWS_SECRET_ACCESS_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "Host", "PATH",
    "PREFECT_API_KEY", "aiplatform.googleapis.com/custom_model_training_preemptible_nvidia_l4_gpus", "chromium",
    "aiplatform.googleapis.com/custom_model_training_nvidia_l4_gpus",
    "disable_retries", "https://ghp_…@host", "https://token@host", "nobody", "postgresql+psycopg://…",
    "roles/aiplatform.user", "roles/logging.logWriter", "roles/secretmanager.secretAccessor",
    "roles/storage.objectUser", "torch.compile", "torch.multinomial",
}  # fmt: skip
"""Names of shells, systems and libraries that a page mentions and this program does not spell."""


class Page:
    """Markdown with its code: `spans` in sentences, `commands` of ours there and in blocks, as words."""

    def __init__(self, text: str, folder: Path) -> None:
        self.folder, self.text = folder, text
        self.prose = FENCE.sub("", text)
        self.spans = [" ".join(span.split()) for span in SPAN.findall(self.prose)]
        blocks = [block for language, block in FENCE.findall(text) if language in ("", "bash")]
        lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
        found = [words_of(line) for line in [*lines, *(span for span in self.spans if " " in span)]]
        self.commands = [words for words in found if words and Path(words[0]).name in PROGRAMS]

    def of(self, program: str) -> list[list[str]]:
        """What stands behind the name of a program."""
        return [words[1:] for words in self.commands if Path(words[0]).name == program]


def words_of(line: str) -> list[str]:
    """A line of a shell as words, without its comment, redirection and what follows &&; none where it is no shell's."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return []
    end = next((number for number, word in enumerate(words) if word in (">", "|", "&&")), len(words))
    return words[:end]


def unknown_settings(page: Page) -> Iterator[str]:
    """`section.field`, and `section.field=value` where the field itself refuses the value."""
    for span in page.spans:
        name, equals, value = span.removeprefix("--set ").strip("'").partition("=")
        section, _, field = name.partition(".")
        if section not in SECTIONS or not re.fullmatch(r"[a-z0-9_]+(\.[a-z_]+)?", field) or "/" in name:
            continue
        if name not in SETTINGS and not name.startswith("data.mix."):
            yield from [] if is_spelt(name) else [f"there is no setting {name}"]
        elif equals and not PLACEHOLDER.fullmatch(value):
            yield from refused_value(section, field, yaml.safe_load(value))


def refused_value(section: str, field: str, value: object) -> Iterator[str]:
    """What other settings a value needs is another matter."""
    try:
        PipelineSettings.model_validate({section: {field: value}})
    except ValidationError as error:
        faults = [fault["msg"] for fault in error.errors() if fault["loc"][:2] == (section, field)]
        yield from [f"{section}.{field}={value}: {fault}" for fault in faults]


def wrong_defaults(page: Page) -> Iterator[str]:
    """`section.field` (value): the value is the default."""
    defaults = PipelineSettings().model_dump(mode="json")
    for name, said in re.findall(r"`([a-z_]+\.[a-z_0-9]+)` \(([^()\s;]+)\)", page.prose):
        if name in SETTINGS:
            section, _, field = name.partition(".")
            if defaults[section][field] != yaml.safe_load(said.replace(",", "")):
                yield f"{name} is {defaults[section][field]} by default, not {said}"


def unknown_commands(page: Page) -> Iterator[str]:
    """`tucano ...`: parsed as the program does, and its settings loaded."""
    for words in page.of("tucano"):
        if len(words) == 1 and not words[0].startswith("-"):
            yield from [] if words[0] in cli.COMMANDS else [f"there is no tucano {words[0]}"]
            continue
        said = io.StringIO()
        try:
            with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
                arguments = cli.parser().parse_args(words)
        except SystemExit as error:
            yield from [said.getvalue()] if error.code else []
            continue
        overrides = [override for override in getattr(arguments, "set", []) if "…" not in override]
        yield from refused_settings(getattr(arguments, "profile", "laptop"), overrides)


def refused_settings(profile: str, overrides: list[str]) -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            load_profile(ROOT, profile if profile in profiles(ROOT) else "laptop", overrides)
        except UserError as error:
            yield str(error)


def unknown_targets(page: Page) -> Iterator[str]:
    """`make target NAME=value`."""
    for words in page.of("make"):
        for word in words:
            name, is_variable, _ = word.partition("=")
            known = rf"\$\((?:or \$\()?{name}\)" if is_variable else rf"^{name}:"
            if not re.search(known, MAKEFILE, re.MULTILINE):
                yield f"the Makefile has no {name}"


def unknown_modules(page: Page) -> Iterator[str]:
    """`python -m module`, and `pip install` of an extra."""
    for words in page.of("python"):
        if "-m" in words and importlib.util.find_spec(words[words.index("-m") + 1]) is None:
            yield f"there is no module for python {shlex.join(words)}"
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    yield from {*re.findall(r"\.\[(\w+)\]", page.text)} - extras.keys()


def missing_files(page: Page) -> Iterator[str]:
    """Links, and paths that begin with one of our folders."""
    links = [link or source for link, source in LINK.findall(page.prose)]
    yield from [link for link in links if not re.match(r"[a-z]+:", link) and not (page.folder / link).exists()]
    for path in re.findall(rf"(?<![\w./-])(?:{'|'.join(FOLDERS)})/[\w.*/-]*\w", page.prose):
        if not any(ROOT.glob(path)) and path not in WRITTEN_BY_RUNS:
            yield path


def unknown_names(page: Page) -> Iterator[str]:
    yield from [span for span in page.spans if not is_known(span)]


def is_known(span: str) -> bool:
    """Texts and commands (with a space) and values (with a quote, or without three letters) are no names."""
    if span in OF_OTHERS | WRITTEN_BY_RUNS or not re.search(r"[A-Za-z]{3}", span) or re.search(r"[\"«]", span):
        return True
    if (" " in span and not span.startswith("--")) or span in PROGRAMS or any(ROOT.glob(span.strip("/"))):
        return True
    name = re.sub(r"\(.*\)$|=.*$", "", span.removeprefix("--set "))
    name = name.split()[0] if name.startswith("--") else name
    parts = name.removeprefix("runs/").split("/") if "/" in name else name.split(".") if name[0].isupper() else [name]
    return name in SETTINGS or is_spelt(span) or all(is_spelt(part) for part in parts)


@cache
def program_text() -> str:
    """Everything that the program consists of, and the ratings, without its docs and tests."""
    suffixes = {".py", ".yaml", ".yml", ".toml", ".j2", ".txt", ".in", ".jsonl", ""}
    files = [path for folder in FOLDERS if folder not in ("docs", "tests") for path in (ROOT / folder).rglob("*")]
    files += ROOT.iterdir()
    return "\n".join(path.read_text(encoding="utf-8") for path in files if path.is_file() and path.suffix in suffixes)


def is_spelt(name: str) -> bool:
    """Whether the program spells a name; of one with placeholders, every part that is none."""
    if PLACEHOLDER.search(name):
        return all(part in program_text() for part in PLACEHOLDER.split(name))
    return has_word(name) or is_in_module(name)


def is_in_module(name: str) -> bool:
    """Whether a name like data.prepare.prepare is defined in that module of ours."""
    module, _, last = name.rpartition(".")
    path = ROOT / f"{module.replace('.', '/')}.py"
    source = path.read_text(encoding="utf-8") if path.is_file() else ""
    return re.search(rf"^(?:def |class )?{last}\b", source, re.MULTILINE) is not None


@cache
def has_word(name: str) -> bool:
    text = program_text()
    place = text.find(name)
    while place >= 0:  # a pattern with a look behind reads these megabytes forty times as slowly
        after = place + len(name)
        if not re.search(r"\w", text[max(0, place - 1) : place] + text[after : after + 1]):
            return True
        place = text.find(name, place + 1)
    return False


CHECKS: list[Callable[[Page], Iterator[str]]] = [
    unknown_settings, wrong_defaults, unknown_commands, unknown_targets, unknown_modules, missing_files, unknown_names,
]  # fmt: skip


@pytest.mark.parametrize("path", PAGES, ids=[path.relative_to(ROOT).as_posix() for path in PAGES])
def test_what_a_page_names_is_there(path: Path) -> None:
    assert faults(path) == []


def faults(path: Path) -> list[str]:
    """What a page names and the program has not."""
    page = Page(path.read_text(encoding="utf-8"), path.parent)
    checks = CHECKS[:-1] if path in GENERATED else CHECKS
    return [fault for check in checks for fault in check(page)]


@pytest.mark.parametrize(
    "text",
    [
        "`worker.usd_per_hour`", "`grpo.loss=ppo`", "`grpo.generations` (8)",
        "`tucano runn`", "`tucano run laptop --sett seed=1`", "`tucano run laptop --set grpo.max_step=3`",
        "```\ntucano run laptop --set grpo.batch_size=60\n```\n", "`make tests`", "`make drill DEATHS=3`",
        "`python -m benchmarks.sped`", '`pip install -e ".[tpu]"`', "[here](docs/gone.md)", "in tucano/gone.py",
        "`tests/test_gone.py`", '<img src="docs/images/gone.png">', "`a_name_of_before`", "`runs/no-such/`",
        "`--gone 3`",
    ],
)  # fmt: skip
def test_what_is_not_there_is_refused(text: str) -> None:
    assert [fault for check in CHECKS for fault in check(Page(text, ROOT))]


OPTIONS = """
import argparse, importlib, json, sys
class Captured(Exception): pass
def capture(self, *_): raise Captured(self)
parse = argparse.ArgumentParser.parse_args
for module, words in json.load(sys.stdin):
    argparse.ArgumentParser.parse_args = capture
    try:
        found = importlib.import_module(module)
        (importlib.import_module(f"{module}.__main__") if hasattr(found, "__path__") else found).main()
    except Captured as caught:
        parser, = caught.args
    finally:
        argparse.ArgumentParser.parse_args = parse
    try:
        parser.parse_args(words)
    except SystemExit:
        print("refused:", module, *words)
"""
"""Every call is parsed by the module's own parser; nothing else of its main() runs."""


def with_options(page: Page) -> Iterator[tuple[str, list[str]]]:
    """Calls of modules of ours with options, as they stand or as ARGS of a target that calls the module."""
    for words in page.of("python"):
        if "-m" in words:
            yield words[words.index("-m") + 1], words[words.index("-m") + 2 :]
    for target, *variables in page.of("make"):
        recipe = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
        module = re.search(r"-m (benchmarks\.\S+)", recipe[1] if recipe else "")
        given = [word.removeprefix("ARGS=") for word in variables if word.startswith("ARGS=")]
        if module and given:
            yield module[1], shlex.split(given[0])


def refused_options(pages: list[Page]) -> str:
    calls = [(module, words) for page in pages for module, words in with_options(page) if words]
    ours = [(module, words) for module, words in calls if module.partition(".")[0] in FOLDERS]
    line = [sys.executable, "-c", OPTIONS]
    done = subprocess.run(line, input=json.dumps(ours), cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_every_module_takes_the_options_that_are_shown_and_refuses_others() -> None:
    """One process for all: it imports every module that a page calls."""
    wrong = Page('`make drill ARGS="--deaths 3"` and `python -m benchmarks.verdict_simulation --times 3`', ROOT)
    pages = [Page(path.read_text(encoding="utf-8"), path.parent) for path in PAGES]
    assert sorted(refused_options([*pages, wrong]).splitlines()) == [
        "refused: benchmarks.drill --deaths 3",
        "refused: benchmarks.verdict_simulation --times 3",
    ]
