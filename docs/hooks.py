"""What MkDocs needs to show the repository's own files: pages from the root, and links that lead out of docs/.

In the repository README.md links to docs/data.md, and docs/algorithms.md to ../LOG.md. On the site README.md is the
first page and LOG.md another; a link to a file that is no page, like a source file, becomes its text.
"""

import os
import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
FROM_ROOT = {"README.md": "index.md"} | {name: name for name in ("CONTRIBUTING.md", "LOG.md", "CHANGELOG.md")}
"""{file of the repository's root: page of the site}"""
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for name, page in FROM_ROOT.items():
        files.append(File.generated(config, page, content=(ROOT / name).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    here = page.file.src_uri
    return LINK.sub(lambda link: site_link(link, here), markdown)


def site_link(link: re.Match[str], here: str) -> str:
    """A link of the page `here` as the site has it."""
    image, text, target, anchor = link[1], link[2], link[3], link[4] or ""
    if re.match(r"[a-z]+:", target):
        return link[0]
    in_repository = {page: name for name, page in FROM_ROOT.items()}.get(here, f"docs/{here}")
    meant = posixpath.normpath(posixpath.join(posixpath.dirname(in_repository), target))
    found = FROM_ROOT.get(meant) or (meant.removeprefix("docs/") if meant.startswith("docs/") else None)
    if found is None:
        return text if (ROOT / meant).exists() else link[0]
    relative = posixpath.relpath(found, posixpath.dirname(here) or os.curdir)
    return f"{image}[{text}]({relative}{anchor})"
