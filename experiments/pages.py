"""HTML pages from the templates in `data/`, which have the texts and styles of the pages."""

from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from four_seasons_env.experiments.folders import DATA


def render(template: str, **content: Any) -> bytes:
    """A page from a template of `DATA`; texts are escaped, unless they are `Markup`.

    Args:
        template: name of the file.
        content: values of the names in it. The filter `table` makes a table of a data frame.
    """
    pages = Environment(
        loader=FileSystemLoader(DATA),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters["table"] = _table
    return pages.get_template(template).render(content).encode()


def _table(cells: pd.DataFrame) -> Markup:
    """A table of text, which pandas escapes."""
    return Markup(f'<div class="wide">{cells.to_html(index=False, border=0)}</div>')
