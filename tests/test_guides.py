"""The guides work as they stand: done in a copy of the repository, their steps end with green tests."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_docs import FOLDERS, Page

ROOT = Path(__file__).parent.parent
GUIDES = ROOT / "docs" / "guides"
TITLED = re.compile(r'^```(\w+) title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
AT_EVERY_CHANGE = ("add-a-task",)
NAMED = "import sys; sys.path.append('tests'); from pathlib import Path; from test_docs import faults;"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The repository without what runs have left."""
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy2(path, tmp_path / path.name)
    return tmp_path


def follow(guide: str, copy: Path) -> None:
    """Does in the copy what the blocks with a file name say: changes, text at the end, new files."""
    blocks = TITLED.findall(guide)
    for language, name, block in blocks:
        path = copy / name
        if language == "diff":
            change(path, block)
        elif language == "markdown":
            path.write_text(path.read_text(encoding="utf-8") + block, encoding="utf-8")
        else:
            assert not path.exists(), f"{name} is there already"
            path.write_text(block, encoding="utf-8")
    assert blocks


def change(path: Path, block: str) -> None:
    """Applies a diff without line numbers; what it takes away and leaves stands in the file exactly once."""
    lines = block.splitlines(keepends=True)
    before = "".join(line[1:] for line in lines if line[0] in "- ")
    after = "".join(line[1:] for line in lines if line[0] in "+ ")
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1, (
        f"{path.name} has this {text.count(before)} times; where you have changed it, change what the guide in docs/guides"
        f" quotes of it too:\n{before}"
    )
    path.write_text(text.replace(before, after), encoding="utf-8")


def passes(copy: Path, *words: str) -> None:
    """Python in the copy, with the copy's code."""
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    line = [sys.executable, *words]
    done = subprocess.run(line, cwd=copy, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(path.name, marks=[] if path.stem in AT_EVERY_CHANGE else pytest.mark.long)
        for path in sorted(GUIDES.glob("*.md"))
    ],
)
def test_following_the_guide_ends_with_green_tests(name: str, copy: Path) -> None:
    """Its files and changes, then its own commands of python, in their order; then the guide names nothing unknown."""
    guide = (GUIDES / name).read_text(encoding="utf-8")
    follow(guide, copy)
    commands = Page(guide, GUIDES).of("python")
    assert any("pytest" in words for words in commands)
    for words in commands:
        passes(copy, *words)
    passes(copy, "-m", "ruff", "check", *FOLDERS)
    passes(copy, "-c", f"{NAMED} raise SystemExit(faults(Path('docs/guides/{name}').absolute()) or None)")
