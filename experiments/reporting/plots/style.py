"""Style of all plots: size, colours, names, percent."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

import matplotlib
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

COLOURS = matplotlib.colormaps["tab10"].colors  # type: ignore[attr-defined]
_OTHER_COLOURS = [COLOURS[3], *matplotlib.colormaps["Dark2"].colors]  # type: ignore[attr-defined]

AGENT_COLOURS = {
    "ceiling": "#d3d3d3",
    "random": "#7f7f7f",
    "greedy": "#8c564b",
    "heuristic": "#ff7f0e",
    "finisher": "#bcbd22",
    "rollout": "#17becf",
    "pimc": "#e377c2",
    "maskable_ppo": "#1f77b4",
    "next_deal_ppo": "#2ca02c",
    "planner": "#9467bd",
}
"""Colours of agents in every plot; variants of an agent have lighter shades."""

Colour = tuple[float, float, float]


def new_panels(height: float, count: int, columns: int = 1) -> tuple[Figure, list[Axes]]:
    """A figure with several plots below each other, or in columns."""
    figure = Figure(figsize=(5, height), dpi=200, layout="constrained")
    panels = [figure.add_subplot(-(-count // columns), columns, i + 1) for i in range(count)]
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.3)
    return figure, panels


def new_axes(height: float = 3.4) -> tuple[Figure, Axes]:
    """A figure with a single plot."""
    figure, (axes,) = new_panels(height, 1)
    return figure, axes


def colours_of(names: Sequence[str]) -> dict[str, Colour]:
    """A colour for each name: from `AGENT_COLOURS`, or the next free one for other agents.

    Variants of an agent, such as ``planner@lookahead=1``, get lighter shades.
    """
    colours: dict[str, Colour] = {}
    shades: dict[str, int] = {}
    for name in dict.fromkeys(names):
        agent = re.split("[@,]", name)[0]
        shade = shades[agent] = shades.get(agent, -1) + 1
        others = [each for each in shades if each not in AGENT_COLOURS]
        colour = AGENT_COLOURS.get(agent)
        if colour is None:
            colour = _OTHER_COLOURS[others.index(agent) % len(_OTHER_COLOURS)]
        white = 1 - 0.65**shade
        red, green, blue = ((1 - white) * part + white for part in to_rgb(colour))
        colours[name] = (red, green, blue)
    return colours


def in_lines(names: Sequence[str], room: int = 23) -> list[str]:
    """Each name wrapped into lines of at most ``room`` characters, with its options below it."""
    return [
        "\n".join(
            plain_text(line)
            for part in re.split("@|, ", name)
            for line in textwrap.wrap(part.replace(",", ", "), room)
        )
        for name in names
    ]


def plain_text(text: str) -> str:
    """The text with escaped dollar signs; Matplotlib reads them as formulas."""
    return text.replace("$", r"\$")


def in_percent(axes: Axes, x: bool = False, y: bool = False) -> None:
    """Format the ticks of the chosen axes as percentages."""
    for axis, wanted in ((axes.xaxis, x), (axes.yaxis, y)):
        if wanted:
            axis.set_major_formatter(PercentFormatter(1.0, decimals=0))
