"""The game on a terminal, played by typing moves."""

from __future__ import annotations

import difflib
import random
from collections.abc import Callable, Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from four_seasons_env.engine.cards import SIGNS, SUITS
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.engine.moves import all_moves
from four_seasons_env.game import Game
from four_seasons_env.play import advice, words
from four_seasons_env.play.session import Keep, Session
from four_seasons_env.rendering.layout import Place, grid
from four_seasons_env.rules import Rules

_SIGNS = dict(zip(SUITS, SIGNS, strict=True))
_STYLES = {"C": "bold", "S": "bold", "H": "bold red", "D": "bold red"}
_WASTE_SHOWN = 12

_HELP = """\
Type a move as it is listed: d (deal, or turn the waste over),
w f (waste to its foundation), w 2 (waste to pile T2), 0 f, 0 3 (pile T0 to T3);
h for a hint, a to play every card that goes up, u undo, r redo,
m all legal moves, n a new game, q quit."""
_LIMITED_HELP = "The card that lies face up on the stock is s: s f, s 2."


def play_on_terminal(
    rules: Rules,
    deal: int | None,
    lines: Iterable[str] | None = None,
    console: Console | None = None,
    keep: Keep | None = None,
) -> None:
    """Play until the user quits.

    Args:
        rules: the rule set.
        deal: the deal's number; None for any.
        lines: the user's input; None to ask for it.
        console: where to print; None for the terminal.
        keep: called with each session whose game ends.
    """
    console = console or Console(highlight=False)
    typed = iter(lines) if lines is not None else _ask(console)
    session = Session(rules, _any_deal() if deal is None else deal, keep=keep)
    _help(session, console)
    show(session, console)
    for line in typed:
        command = line.strip().lower()
        if command in ("q", "quit"):
            return
        if command in ("n", "new"):
            session = Session(rules, _any_deal(), keep=keep)
        elif not _obey(session, command, console):
            continue
        show(session, console)


def _help(session: Session, console: Console) -> None:
    console.print(_HELP, style="dim")
    if session.game.rules.limited_redeal:
        console.print(_LIMITED_HELP, style="dim")


def _any_deal() -> int:
    return random.randrange(TRAIN_FROM)


def _ask(console: Console) -> Iterable[str]:
    while True:
        try:
            yield console.input("[bold]> [/bold]")
        except EOFError:
            return


def _obey(session: Session, command: str, console: Console) -> bool:
    """Carry out a command; returns whether to show the game again."""
    changes: dict[str, Callable[[], object]] = {
        "u": session.undo,
        "r": session.redo,
        "a": session.finish,
    }
    try:
        if command in ("?", "help"):
            _help(session, console)
        elif command == "m":
            for move in session.game.legal_moves():
                console.print(f"  {move.text:8}{words.move_words(session.game, move)}")
        elif command == "h":
            _hint(session, console)
        elif command in changes:
            changes[command]()
            return True
        elif command:
            session.play(read_move(session, command))
            return True
    except ValueError as error:
        console.print(str(error), style="yellow")
    return False


def read_move(session: Session, command: str) -> str:
    """The text of a move from what people type: "w f", "0 3", "d", "W>T2".

    Raises:
        ValueError: for an unknown move, with the nearest one.
    """
    texts = {move.text.lower(): move.text for move in all_moves(session.game.rules)}
    if command == "d":
        redeals = session.game.stock_size == 0 and "redeal" in texts
        return "redeal" if redeals else "deal"
    parts = command.replace(">", " ").split()
    short = ">".join(f"t{part}" if part.isdigit() else part for part in parts)
    if short not in texts:
        close = difflib.get_close_matches(short, texts, n=1, cutoff=0)
        raise ValueError(
            f"no move {command!r}: did you mean {texts[close[0]]}? (m lists the legal)"
        )
    return texts[short]


def _hint(session: Session, console: Console) -> None:
    known = advice.advisers(session.game.rules)
    if not known:
        console.print("no agents are installed that can play these rules", style="yellow")
        return
    move = advice.choose(known[0], session.game)
    console.print(f"{known[0]}: {move.text}, {words.move_words(session.game, move)}")
    for text, value in list(advice.values(session.game).items())[:5]:
        console.print(f"  {text:8}{value:6.1%} to win", style="dim")


def _card(card: str) -> Text:
    rank = "10" if card[0] == "T" else card[0]
    return Text(f"{rank}{_SIGNS[card[1]]}", _STYLES[card[1]])


def _cards(cards: Iterable[str]) -> Text:
    return Text(" ").join(_card(card) for card in cards)


def _cell(session: Session, place: Place) -> Text:
    game = session.game
    if isinstance(place, int):
        pile = game.tableau[place]
        return Text(f"T{place} ", "dim") + (_cards(pile) if pile else Text("--", "dim"))
    built = game.foundations[place]
    level = Text(f" {len(built)}", "dim")
    base = game.bases[place]
    empty = Text("[", "dim") + _card(base) + Text("]", "dim")
    return (_card(built[-1]) if built else empty) + level


def show(session: Session, console: Console) -> None:
    """Print the table: foundations with their levels, piles from the bottom, stock and waste."""
    game = session.game
    rows = grid(game.rules.piles)
    table = Table.grid(padding=(0, 3))
    for row in rows:
        table.add_row(*(_cell(session, place) for place in row))
    console.print()
    console.print(table)
    redeals = f", redeals left {game.redeals_left}" if game.redeals_left else ""
    more = len(game.waste) - _WASTE_SHOWN
    console.print(
        Text(f"stock {game.stock_size}{redeals}   ", "dim")
        + (Text("face up ", "dim") + _card(game.face_up) + Text("   ") if game.face_up else Text())
        + Text("waste ", "dim")
        + Text(f"({more} more) " if more > 0 else "", "dim")
        + (_cards(game.waste[-_WASTE_SHOWN:]) if game.waste else Text("--", "dim"))
    )
    console.print(
        f"{game.rules.name}, deal {game.deal}: {game.cards_up} of {game.rules.cards} up, "
        f"{len(session.played)} moves",
        style="dim",
    )
    if game.is_won:
        console.print("Won!", style="bold green")
    elif game.is_over:
        console.print("No move is left that leads anywhere: u takes one back.", style="yellow")
    if game.is_over and not session.undone:
        _show_luck(session, console)


def _show_luck(session: Session, console: Console) -> None:
    """Print the luck of a game that is over, and its luckiest and unluckiest cards."""
    game = session.game
    luck = advice.luck(Game(game.rules, deal=game.deal), session.played)
    if luck is None:
        return
    console.print(f"luck of this game: {luck.total:+.2f} wins", style="dim")
    for title, cards in (("luckiest", luck.luckiest()), ("unluckiest", luck.unluckiest())):
        told = Text(", ").join(_card(card) + Text(f" {value:+.2f}") for _, card, value in cards)
        console.print(Text(f"  {title} cards: ", "dim") + told)
