"""Check a comparison: replay its games and compare the results.

    four-seasons compare --agents heuristic --record --out runs/final    # the sender
    four-seasons verify runs/final                                       # the reader

The command replays every game from its deal number. Each deal of `compare.json` must occur once,
each move must be legal, and each game must end with its last move. The columns won, cards_up and
moves of `results.csv` must agree with the games, and the tables of the folder with `results.csv`.
The command prints the differences, and its exit status is 1 if there are any. The page "Benchmark
protocol" lists what a replay cannot prove.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import tyro

from four_seasons_env import __version__
from four_seasons_env.engine.masks import mask_after
from four_seasons_env.engine.moves import find_move
from four_seasons_env.experiments import blocks, comparison, tables
from four_seasons_env.experiments.command_line import Run, command, one_line, progress_bar
from four_seasons_env.game import MAX_MOVES
from four_seasons_env.records import Record, RecordError, parse_record, read_lines
from four_seasons_env.rules import get_rules
from four_seasons_env.streams import printable

DIFFERS = 1
"""Exit status if something differs."""
_SHOWN = 5
"""Printed differences per player."""
_KEY = ["rules", "agent", "play", "train_seed"]


@dataclass
class Verify(Run):
    """Replay the games of a comparison and compare them with its results."""

    folder: tyro.conf.Positional[Path]
    """Folder of `four-seasons compare --record`."""
    census: Path | None = None
    """Folder of the census that the comparison was given, if any."""


def verify(run: Verify) -> bool:
    """Replay all games, print the differences, and return whether games and tables agree.

    Raises:
        FileNotFoundError: if the folder has no comparison.
        ValueError: if it has no games, or its manifest or results cannot be read.
    """
    census = comparison.read_census(run.census)
    manifest, results = comparison.read_manifest(run.folder), comparison.read_results(run.folder)
    if not manifest.recorded:
        raise ValueError(f"{run.folder} has no games: compare with --record")
    # 1. The games and the rows of each player. A missing training seed would fall out of groups.
    by_player = dict(list(results.fillna({"train_seed": -1}).groupby(_KEY, sort=False)))
    table, games, clean = [], 0, True
    with progress_bar(transient=True) as bar:
        for own in bar.track(blocks.blocks_of(run.folder, manifest), description="replaying"):
            rules, player = own[0].rules, own[0].player
            seed = -1 if player.train_seed is None else player.train_seed
            key = rules, player.agent, player.play, seed
            replayed, differences = _replay(own, by_player.pop(key, results.iloc[:0]))
            games += len(replayed)
            clean = clean and not differences
            for text in differences[:_SHOWN]:
                print(printable(f"{_named(key)}: {text}"))
            won = f"{100 * sum(each.end.won for each in replayed) / max(len(replayed), 1):.2f}"
            verified = f"{len(differences):,} differ" if differences else "yes"
            who = [rules, player.agent, player.play, "-" if seed < 0 else str(seed)]
            table.append([*who, f"{len(replayed):,}", won, verified])
    # 2. Rows that are left belong to nobody in the manifest.
    for unknown, others in by_player.items():
        clean = False
        rows = f"{len(others):,} rows of {_named(unknown)}"
        print(printable(f"results.csv has {rows}, which the manifest does not name"))
    columns = [*_KEY, "games", "won %", "verified"]
    tables.print_table(pd.DataFrame(table, columns=columns), str(run.folder))
    # 3. The tables that people read.
    if clean:
        clean = _check_tables(run.folder, manifest, results, census)
    else:
        print("to play games again, delete their files in parts/ and compare again")
    print(f"{'verified' if clean else 'NOT verified'}: {games:,} game{'s' * (games != 1)} replayed")
    return clean


def _named(key: tuple[Any, ...]) -> str:
    """A player, by its values of `_KEY`, in words; -1 is no training seed."""
    *names, seed = key
    return ", ".join(names + [f"train_seed {int(seed)}"] * (seed >= 0))


def _check_tables(
    folder: Path, manifest: comparison.Manifest, results: pd.DataFrame, census: pd.DataFrame
) -> bool:
    """Whether the tables of a folder, if they are there, are what its results give."""
    if manifest.version != __version__:
        print(f"not checked: {', '.join(tables.FILES)} of version {manifest.version!r}")
        return True
    summary, seeds = comparison.summaries(manifest, results, census)
    given = tables.exports(summary, seeds, manifest.numbers)
    stale = [
        name
        for name in given
        if (folder / name).is_file()
        and (folder / name).read_bytes().splitlines() != given[name].encode().splitlines()
    ]
    if stale:
        print(
            f"{', '.join(stale)}: not what results.csv gives; name the census, if the comparison "
            "was given one (--census), or compare again"
        )
    return not stale


def _replay(own: list[blocks.PlayerBlock], rows: pd.DataFrame) -> tuple[list[Record], list[str]]:
    """Replay the games of a player.

    Args:
        own: the player's blocks of deals.
        rows: the player's rows of results.csv.

    Returns:
        The replayed games, and the differences.
    """
    # 1. Games that follow the rules to their end, each deal once.
    differences: list[str] = []
    games: dict[int | None, Record] = {}
    for where, game in (each for block in own for each in _read_games(block)):
        if isinstance(game, str):
            differences.append(f"{where}: {game}")
        elif game.deal in games:
            differences.append(f"{where}: deal {game.deal} occurs twice")
        else:
            games[game.deal] = game
    # 2. Each deal of the manifest has a game and a row.
    deals = [deal for block in own for deal in block.deals]
    missing = [deal for deal in deals if deal not in games]
    if missing:
        differences.append(f"deals without a game: {len(missing):,}, the first is {missing[0]}")
    if rows["deal"].tolist() != deals:
        differences.append("results.csv does not have each deal of the manifest once, in order")
    # 3. A row says what its game says.
    for row in rows.drop_duplicates("deal").to_dict("records"):
        if played := games.get(row["deal"]):
            end = played.end
            truth = {"won": end.won, "cards_up": end.cards_up, "moves": len(played.moves)}
            differences += [
                f"deal {played.deal}: results.csv says {name} {row[name]}; the game says {value}"
                for name, value in truth.items()
                if row[name] != value
            ]
    return [*games.values()], differences


def _read_games(block: blocks.PlayerBlock) -> Iterator[tuple[str, Record | str]]:
    """The games of a block by their places, or what is wrong with them."""
    where = block.games.name
    try:
        for number, line in read_lines(block.games):
            where = f"{block.games.name}, line {number}"
            try:
                record = parse_record(line)
                yield where, _fault(record, block) or record
            except RecordError as error:
                yield where, str(error)
    except (OSError, RecordError) as error:
        yield where, one_line(error)


def _fault(record: Record, block: blocks.PlayerBlock) -> str | None:
    """Why a legal game does not belong to this block; None if it does."""
    if get_rules(record.rules).name != block.rules:
        return f"a game of {record.rules!r}"
    if record.deal not in block.deals:
        return f"deal {record.deal} is not one of this file"
    if record.player != block.player.agent:
        return f"deal {record.deal} was played by {record.player!r}, not {block.player.agent!r}"
    # `no_repeats` ends a game when nothing new is left, so a game with such a move was cut.
    count = len(record.moves)
    if not record.end.over and count < MAX_MOVES and _has_moves(record):
        return f"deal {record.deal} breaks off after {count} moves"
    if count > MAX_MOVES or record.undone:
        return f"deal {record.deal} has more than {MAX_MOVES} moves, or cards taken back"
    return None


def _has_moves(record: Record) -> bool:
    """Whether the mask `no_repeats` has a move at the end of a game."""
    start = record.start()
    moves = [find_move(start.rules, move) for move in record.moves]
    return bool(mask_after(start.record, start.rules, moves).any())


def check(run: Verify) -> None:
    """Verify, and end with the exit status `DIFFERS` if something differs."""
    if not verify(run):
        sys.exit(DIFFERS)


main = command(check, "nothing is saved; again: {command}")
