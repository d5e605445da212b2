"""The docs as a site: it builds without a warning (every link and anchor is checked), and needs no other host."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LOADED = re.compile(r"<(?:(?:script|img|source|iframe|video)\b[^>]*\bsrc|link\b[^>]*\bhref)=[\"']?([^\"' >]+)")
"""Addresses that a browser fetches by itself when it opens a page."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_of_the_docs_is_in_it_and_the_first_is_the_readme(site: Path) -> None:
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    built = {path.relative_to(site) for path in site.rglob("*.html")}
    roots = {Path(name) for name in ("index.html", "CONTRIBUTING.html", "LOG.html", "CHANGELOG.html", "404.html")}
    assert built == pages | roots
    assert "make run" in (site / "index.html").read_text(encoding="utf-8")


def test_no_page_fetches_anything_from_another_host(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    loaded = [address for page in pages for address in LOADED.findall(page.read_text(encoding="utf-8"))]
    assert any("stylesheets" in address for address in loaded)
    assert [address for address in loaded if re.match(r"(?:https?:)?//", address)] == []
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", sheet.read_text(encoding="utf-8")), sheet
