"""The columns of expert data: the one description, for the files, their metadata and the docs."""

from __future__ import annotations

from typing import NamedTuple


class Column(NamedTuple):
    """A column; a row is a decision."""

    name: str
    dtype: str
    shape: tuple[str, ...]
    """Names of its dimensions: `m` is the number of candidates of the decision, `slots` the length
    of a candidate's row, `candidates` the number of actions. () for a single value."""
    about: str


COLUMNS = (
    Column("deal", "int64", (), "Number of the deal."),
    Column("step", "int16", (), "Number of the decision in its game, from 0."),
    Column(
        "observation",
        "int16",
        ("m", "slots"),
        "The features of each candidate. The environment adds rows of zeros up to the number of "
        "actions.",
    ),
    Column(
        "action_mask",
        "int8",
        ("candidates",),
        "1 for the first m actions, 0 for the others.",
    ),
    Column("action", "int16", (), "The candidate that was chosen."),
    Column(
        "own",
        "bool",
        (),
        "Whether the agent chose this position itself. False if the environment did not offer the "
        "agent's choice; then the action is the candidate of the highest value, or the first.",
    ),
    Column(
        "value",
        "float32",
        ("m",),
        "The agent's value of each candidate; the planner's is its estimated chance of winning. "
        "Null for agents without values.",
    ),
    Column(
        "reward",
        "float64",
        (),
        "The share of the deck that the action put on the foundations, plus 1 for a win.",
    ),
    Column("terminated", "bool", (), "Whether the game ended with this action."),
    Column("truncated", "bool", (), "Whether the limit of moves ended the game."),
    Column("won", "bool", (), "Whether the game was won in the end."),
    Column(
        "verdict",
        "string",
        (),
        "Whether the deal could still be won from this position: won, lost or unknown. The solver "
        "sees the hidden cards, so this is no input for a fair player. Null without --solve.",
    ),
)
