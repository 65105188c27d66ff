"""What all plots have in common: size, colours, names, legends, percent."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

COLOURS = matplotlib.colormaps["tab10"].colors  # type: ignore[attr-defined]
_MORE_COLOURS = matplotlib.colormaps["tab20"].colors  # type: ignore[attr-defined]

MARKERS = "os^vDP*X<>"
"""Of the agents of one kind."""

_NARROW = 48  # letters of a name, of which two fit side by side below a plot
_FEW = 5
"""Names that a legend has room for in a plot."""


def new_panels(height: float, count: int) -> tuple[Figure, list[Axes]]:
    """A figure with a number of plots below each other."""
    figure = Figure(figsize=(5, height), dpi=200, layout="constrained")
    panels = [figure.add_subplot(count, 1, i + 1) for i in range(count)]
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.3)
    return figure, panels


def new_axes(height: float = 3.4) -> tuple[Figure, Axes]:
    """A figure with a single plot."""
    figure, (axes,) = new_panels(height, 1)
    return figure, axes


def colours_of(names: Sequence[str]) -> dict[str, tuple[float, float, float]]:
    """A colour for each name, the same in all plots of one table."""
    different = list(dict.fromkeys(names))
    colours = COLOURS if len(different) <= len(COLOURS) else _MORE_COLOURS
    return {name: colours[i % len(colours)] for i, name in enumerate(different)}


def in_lines(names: Sequence[str], room: int = 23) -> list[str]:
    """Names as a plot has room for them: in two lines or more, of what is long the end."""
    lines = [name.replace("@", ", ").split(", ") for name in names]
    return [
        "\n".join(
            plain_text(f"...{line[3 - room :]}" if len(line) > room else line) for line in each
        )
        for each in lines
    ]


def plain_text(text: str) -> str:
    """A text in which Matplotlib finds no formula."""
    return text.replace("$", r"\$")


def name_colours(axes: Axes, names: Sequence[str], handles: Sequence[Line2D] | None = None) -> None:
    """Name the colours, or other handles, in the plot or, where they are many, below it."""
    handles = handles or [Line2D([], [], color=colour) for colour in colours_of(names).values()]
    shown = [name.replace("\n", ", ") for name in in_lines(list(dict.fromkeys(names)), room=34)]
    if len(shown) <= _FEW:
        axes.legend(handles, shown, frameon=False, fontsize=8)
        return
    figure = axes.get_figure(root=True)
    assert isinstance(figure, Figure)
    columns = 2 if max(map(len, shown)) <= _NARROW else 1
    figure.set_figheight(figure.get_figheight() + 0.18 * -(-len(shown) // columns))
    figure.legend(
        handles,
        shown,
        frameon=False,
        fontsize=7,
        loc="outside lower center",
        ncols=columns,
        borderpad=0,
    )


def in_percent(axes: Axes, x: bool = False, y: bool = False) -> None:
    """Write shares at an axis, or at both, in percent."""
    for axis, wanted in ((axes.xaxis, x), (axes.yaxis, y)):
        if wanted:
            axis.set_major_formatter(PercentFormatter(1.0, decimals=0))
