"""What models, APIs and people write steers no terminal and breaks out of no page, wherever it is shown."""

import ast
import html
import sys
import unicodedata
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from test_cli import tucano

from tucano.cli.rating.page import render
from tucano.presentation.pages import environment
from tucano.rating.session import Item, Session, View
from tucano.security.printable import escaped, fenced, printable

ROOT = Path(__file__).parent.parent
EVIL = "\x1b[2J\x1b]0;title\x07 \x9b31m \u202eabc\u2066 \ud800 \r\x00 \u2028 \U000e0041"
MARKUP = "[aqui](javascript:alert(1)) <img src=http://evil/x.png> **b** `c` ~~d~~ ![i](http://evil) | &amp; <!-- x"


def steers(text: str) -> bool:
    """By what Unicode says of each character, not by our table."""
    return any(
        (unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") and character not in "\n\t")
        or unicodedata.bidirectional(character) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
        for character in text
    )


def test_nothing_that_steers_is_left_and_everything_else_stays() -> None:
    assert not steers(printable("".join(map(chr, range(sys.maxunicode + 1)))))
    kept = "ação\n\t😍 👩‍👩‍👧 مرحبا 日本 €"
    assert printable(kept) == kept
    assert printable("ação\n\t😍 \x1b[2J\x00\x9b\x7f") == "ação\n\t😍 ␛[2J␀\ufffd␡"
    assert len(printable(EVIL)) == len(EVIL)
    printable(EVIL).encode()


@given(st.text())
def test_a_fenced_text_is_one_code_block_with_the_text(text: str) -> None:
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(f"{fenced(text)}\n\nafter")
    assert [token.type for token in tokens] == ["fence", "paragraph_open", "inline", "paragraph_close"]
    assert tokens[0].content == f"{printable(text)}\n"


@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("`*_[]()<>#+-.!|~&:=\\ \n1"))))
def test_an_escaped_text_is_one_paragraph_of_plain_text(text: str) -> None:
    shown = " ".join(printable(text).split())
    rendered = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(escaped(text))
    assert html.unescape(rendered) == (f"<p>{shown}</p>\n" if shown else "")
    assert rendered.count("<") == (2 if shown else 0)


def test_every_page_shows_it_as_text(tmp_path: Path) -> None:
    """Templates share one environment: what they put in is escaped and printable, markup of our own is not touched."""
    page = (
        environment(tmp_path)
        .from_string("{{ text }} {{ [text] | join }} {{ svg | safe }}")
        .render(text=EVIL + MARKUP, svg="<svg/>")
    )
    assert not steers(page) and "<img" not in page and "<svg/>" in page
    view = View(Item("id", "sql_qa", EVIL, EVIL + ", x"), 0, 1, None)
    page = render(view, Session(tmp_path, [], "ana", "human"), [(EVIL, [EVIL], [EVIL])], "nonce")
    assert not steers(page)
    page.encode()


def test_the_command_repeats_no_escape_sequence(tmp_path: Path) -> None:
    result = tucano("rate", str(tmp_path / "\x1b[2Jratings"), "--rater", "ana", "--from", "\x1b]0;x\x07")
    assert result.returncode == 2 and "␛]0;x␇ does not exist" in result.stderr
    assert "\x1b" not in result.stdout + result.stderr


def test_stages_show_text_in_the_prefect_page_only_through_functions_that_escape() -> None:
    borders = {"create_markdown_artifact", "create_table_artifact"}
    for path in (
        *(ROOT / "tasks").rglob("*.py"),
        *(ROOT / "flows").glob("*.py"),
        *(ROOT / "deployments").rglob("*.py"),
    ):
        names = {
            node.id for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Name)
        }
        assert path.name == "pages.py" or not names & borders, path
