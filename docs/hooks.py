"""Hooks of MkDocs: pages made of other files, and links to source files.

The start page of the site is the README; changelog and contributing are the files of the
repository's root. On GitHub, a link to a source file opens the file. On the site, it opens the
reference page of that module, or becomes plain text if no page documents the module.
"""

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
PAGES = {
    "index.md": "README.md",
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
}
"""Pages made of files of the repository's root."""

_SCRIPT = re.compile(r"^\[(\w+\.py)\]\(((?:\w+/)?\1)\)$", re.MULTILINE)
_WHOLE_LINK = re.compile(r"\[([^\[\]]*)\]\(([^)#:\s]+)(#[^)\s]*)?\)")
_FIRST_CELL = re.compile(r"(<tr>\s*)<td>(.*?)</td>")
_INTERVAL_CELL = re.compile(r"<td>(?=(?:[-+\d.]+ \[[^<\]]*\]|[\d,]+-[\d,]+)</td>)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made of the repository's root files."""
    for page, source in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Link to pages of the site instead of files, and show scripts in place of lines that are links
    to them."""
    home = page.file.src_uri
    folder = (ROOT / PAGES.get(home, f"docs/{home}")).parent
    markdown = _SCRIPT.sub(
        lambda found: f"```python\n{(folder / found[2]).read_text(encoding='utf-8')}```", markdown
    )
    made = {name: page for page, name in PAGES.items()}

    def rewritten(match: re.Match[str]) -> str:
        text, link, anchor = match[1], match[2], match[3] or ""
        target = Path(os.path.normpath(folder / link))
        if not target.is_relative_to(ROOT) or not target.exists():
            return match[0]  # for MkDocs to complain about
        # A page of the site, or the module's page of the reference, which mkdocs-autorefs knows.
        inside = target.relative_to(ROOT)
        if inside.as_posix() in made:
            goal = made[inside.as_posix()]
        elif inside.parts[0] == "docs":
            goal = inside.relative_to("docs").as_posix()
        else:
            module = ".".join(inside.with_suffix("").parts).removesuffix(".__init__")
            return f'<autoref identifier="{module}" optional>{text}</autoref>'
        return f"[{text}]({os.path.relpath(goal, Path(home).parent)}{anchor})"

    return _WHOLE_LINK.sub(rewritten, markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Mark cells of tables for `site.css`: long first cells of rows, intervals, and ranges."""
    return _INTERVAL_CELL.sub('<td class="interval">', _FIRST_CELL.sub(_first_cell, html))


def _first_cell(found: re.Match[str]) -> str:
    row, cell = found[1], found[2]
    mark = ' class="long"' if len(re.sub(r"<[^>]*>", "", cell)) > 40 else ""
    if "<" not in cell:  # such as an agent with options
        cell = cell.replace("@", "@<wbr>").replace(",", ",<wbr>")
    return f"{row}<td{mark}>{cell}</td>"
