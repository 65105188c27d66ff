"""What a comparison's folder claims: who has played which deals. Nothing in it is trusted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from four_seasons_env.agents.policy_files import rules_fields
from four_seasons_env.engine.deals import TRAIN_FROM, check_deal
from four_seasons_env.experiments.evaluation.games import games_of
from four_seasons_env.experiments.evaluation.people import HUMAN
from four_seasons_env.experiments.parallel.blocks import Block
from four_seasons_env.experiments.parallel.parts import digest_of
from four_seasons_env.experiments.reporting.summary_page import ABOUT, read_about
from four_seasons_env.rules import get_rules

Deals = range | tuple[int, ...]

_MOST = 10_000_000
"""Deals of a comparison."""
_LONGEST = 200
"""Letters of a name, or of what an agent is made of."""


@dataclass(frozen=True)
class Claim(Block):
    """A player's games of a block of deals; the block may be any number of deals."""

    where: str
    """Folder of the player's files."""
    agent: str
    play: str
    train_seed: int | None
    told: dict[str, Any]
    """All that the games are said to come from, rules aside."""

    @property
    def made_by(self) -> dict[str, Any]:
        """What its files must have been produced by."""
        return super().made_by | self.told

    @property
    def folder(self) -> str:
        """Folder of the player's files."""
        return self.where

    @property
    def games(self) -> Path:
        """The file of the games."""
        return games_of(self.part)


@dataclass(frozen=True)
class Claims:
    """What a folder claims."""

    deals: Deals
    sealed: bool
    """Whether the deals were drawn at random by whoever played."""
    players: tuple[tuple[Claim, ...], ...]
    """The blocks of each player under each rule set."""
    kinds: dict[str, str]
    """What each agent is made of, by its name in tables."""
    observations: dict[str, str]
    """What each agent sees, likewise."""


def read_claims(folder: Path, size: int) -> Claims:
    """What a folder claims.

    Args:
        folder: of a comparison.
        size: deals in a block at most.

    Raises:
        FileNotFoundError: if the folder is none of a comparison.
        ValueError: if its list of players is damaged, or is of other rules than these.
    """
    about = read_about(folder)
    try:
        return _claims(folder, about, size)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{folder / ABOUT} is damaged: {error!r}") from None


def _claims(folder: Path, about: dict[str, Any], size: int) -> Claims:
    path = folder / ABOUT
    if not about.get("recorded"):
        raise ValueError(f"{folder} keeps no games: compare with --record")
    first, last = (check_deal(deal) for deal in about["deals"])
    if last - first >= _MOST and not about["sealed"]:
        raise ValueError(f"{path} claims {last - first + 1:,} deals, and {_MOST:,} can be checked")
    sealed = tuple(check_deal(deal) for deal in about["sealed"])
    deals: Deals = sealed or range(first, last + 1)
    if not deals or (deals[0], deals[-1]) != (first, last) or list(sealed) != sorted(set(sealed)):
        raise ValueError(f"{path} is damaged: it has no rising list of deals")
    if sealed and sealed[0] < TRAIN_FROM:
        raise ValueError(f"{path} calls deals sealed that are none: {sealed[0]:,}")
    if not about["players"] or about["players"].keys() != about["made_by"].keys():
        raise ValueError(f"{path} is damaged: who plays, and what makes them, are not the same")
    players = []
    for key, made_by in about["made_by"].items():
        name, _, where = key.partition(": ")
        if where in ("", ".", "..") or Path(where).name != where:
            raise ValueError(f"{path} is damaged: {key!r} names no folder of a player")
        rules = get_rules(name)
        if made_by["rules"] != digest_of(rules_fields(rules)):
            raise ValueError(f"{path} is of other rules than {name!r} has here")
        agent, play = _text(made_by["label"]), _text(made_by["play"])
        seed = made_by["train_seed"]
        if seed is not None and type(seed) is not int:
            raise ValueError(f"{path} is damaged: {seed!r} is no training seed")
        own = _own_deals(made_by, deals)
        told = {name: value for name, value in made_by.items() if name != "rules"}
        told["seed"] = about["seed"]
        blocks = tuple(
            Claim(folder, rules.name, block, where, agent, play, seed, told)
            for block in _blocks(deals, own, size)
        )
        players.append(blocks)
    kinds, observations = _texts(about["kinds"]), _texts(about["observations"])
    agents = {blocks[0].agent for blocks in players}
    if not agents <= kinds.keys() & observations.keys():
        raise ValueError(f"{path} is damaged: it does not say what all agents are made of and see")
    return Claims(deals, bool(sealed), tuple(players), kinds, observations)


def _own_deals(made_by: dict[str, Any], deals: Deals) -> frozenset[int] | None:
    """The deals that people have played; None for an agent, which plays all."""
    if made_by["agent"] != HUMAN:
        return None
    own = frozenset(check_deal(deal) for deal in made_by["deals"])
    if not own or not isinstance(deals, range) or not all(deal in deals for deal in own):
        raise ValueError("people are said to have played deals that are not compared")
    return own


def _blocks(deals: Deals, own: frozenset[int] | None, size: int) -> list[Deals]:
    """The deals of a player as they are kept, a block a file."""
    if own is None:
        return [deals[i : i + size] for i in range(0, len(deals), size)]
    starts = dict.fromkeys(deals.index(deal) // size * size for deal in sorted(own))
    return [tuple(sorted(own.intersection(deals[i : i + size]))) for i in starts]


def _text(value: Any) -> str:
    """A text of one line, as tables show it."""
    if not isinstance(value, str) or not value.isprintable() or len(value) > _LONGEST:
        raise TypeError(f"{str(value)[:40]!r} is no line of text")
    return value


def _texts(values: dict[str, Any]) -> dict[str, str]:
    return {_text(name): _text(value) for name, value in values.items()}
