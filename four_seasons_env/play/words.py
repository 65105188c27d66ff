"""The page's words for a game, also for screen readers: moves, cards, the whole table."""

from __future__ import annotations

import re

from four_seasons_env.engine.deals import RANKS
from four_seasons_env.engine.moves import STOCK, Move
from four_seasons_env.game import Game, IllegalMove
from four_seasons_env.rendering.layout import cards_at, ends, moved_cards, placed, places
from four_seasons_env.rules_in_words import rank_words

_SUITS = {"C": "clubs", "S": "spades", "H": "hearts", "D": "diamonds"}
_CROSS = ("north pile", "west pile", "centre pile", "east pile", "south pile")


def move_words(game: Game, move: Move) -> str:
    """A legal move in words: "7 of clubs from the waste to the north pile".

    Of cards that move as one, the lowest is named: "7 of clubs and the 2 cards on it from ...".
    """
    if move.turns:
        return "turn the waste over" if move.target == STOCK else "deal a card"
    cards = moved_cards(game, move)
    above = len(cards) - 1
    on_it = f" and the {f'{above} cards' if above > 1 else 'card'} on it" * (above > 0)
    where, onto = (_in(place_words(game, place)) for place in ends(game, move))
    return f"{card_words(cards[0])}{on_it} from {where} to {onto}"


def _in(words: str) -> str:
    """A place's name after a preposition: "the north pile", but "pile 7"."""
    return words if re.match(r"pile \d", words) else f"the {words}"


def place_words(game: Game, place: str) -> str:
    """The name of a place as drawings and moves call it: "T0", "W", "F:H", "stock"."""
    if place.startswith("T"):
        pile = int(place[1:])
        if pile == game.rules.reserve_pile:
            return "reserve"
        return _CROSS[pile] if game.rules.piles == len(_CROSS) else f"pile {pile + 1}"
    if place.startswith("F:"):
        return f"foundation of {_SUITS[place[2:]]}"
    return {"W": "waste", "stock": "stock"}[place]


def card_words(card: str) -> str:
    """A card's name: "7 of clubs"."""
    return f"{rank_words(card)} of {_SUITS[card[1]]}"


# --- the table


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def table_words(game: Game) -> list[str]:
    """The whole table: all cards of each pile and of the waste, bottom first."""
    shown = {place: cards_at(game, place) for place in places(game) if place[0] in "TW"}
    lines = [
        f"{_capital(place_words(game, place))}: {', '.join(map(card_words, cards)) or 'empty'}"
        for place, cards in shown.items()
    ]
    built = _built(game, [suit for suit, cards in game.foundations.items() if cards])
    return [*lines, f"Foundations: {built or 'empty'}", f"Cards in the stock: {game.stock_size}"]


def _built(game: Game, suits: list[str]) -> str:
    """How far foundations are built: "clubs up to the 9"."""
    tops = [card_words(game.foundations[suit][-1]) for suit in suits]
    return ", ".join("{2} up to the {0}".format(*top.split()) for top in tops)


def unseen_words(game: Game) -> list[str]:
    """The cards that have not been seen, a line for each suit that has any."""
    suits: dict[str, list[str]] = {}
    for card in sorted(game.unseen, key=lambda card: RANKS.index(card[0])):
        suits.setdefault(card_words(card).rpartition(" ")[2], []).append(rank_words(card))
    return [f"{_capital(suit)}: {', '.join(ranks)}" for suit, ranks in sorted(suits.items())]


def describe(game: Game, place: str) -> str:
    """A place with its card, for screen readers: "north pile, 2 of diamonds, 5 cards"."""
    name = place_words(game, place)
    if place == "stock":
        face_up = f", {card_words(game.face_up)} face up" if game.face_up else ""
        return f"{name}, {game.stock_size} card{'s' * (game.stock_size != 1)}{face_up}"
    cards = cards_at(game, place)
    if not cards:
        base = f", starts with {rank_words(game.bases[place[2:]])}" if ":" in place else ""
        return f"{name}, empty{base}"
    below = f", {len(cards)} cards" if len(cards) > 1 else ""
    return f"{name}, {card_words(cards[-1])}{below}"


# --- what a request did, and why a card stays


def did_words(change: str, before: Game, last: Move | None, after: Game) -> str:
    """The effect of a request, in words.

    Args:
        change: "move", "undo", "redo", "restart" or "finish".
        before: the position before it.
        last: the move that was played or taken back, if any.
        after: the position after it.
    """
    # Undo shows no turned card: the player has seen it.
    if change == "restart":
        return "All moves are taken back."
    if change == "undo":
        return f"Taken back: {move_words(after, last)}." if last else ""
    if change == "finish":
        foundations = after.foundations
        up = [s for s in foundations if len(foundations[s]) > len(before.foundations[s])]
        return _capital(_built(after, up) or "no card goes up") + "."
    return _capital("; ".join(_changes(before, last, after))) + "." if last else ""


def played_words(before: Game, move: Move, after: Game) -> str:
    """A move that was played, with the cards that it turned: "deal: 7 of clubs comes to ..."."""
    is_deal = move.turns and move.target != STOCK
    return "deal: " * is_deal + "; ".join(_changes(before, move, after))


def _changes(before: Game, move: Move, after: Game) -> list[str]:
    """A move, and the other cards that it moves: turned from the stock, or filling a space."""
    # The moved card itself is in `move_words`; a deal has no other words than the card that comes.
    was, now, route = placed(before), placed(after), ends(before, move)
    others = [
        f"{card_words(card)} comes to {_in(place_words(after, place))}"
        for card, place in now.items()
        if was.get(card) != place and (move.turns or (was.get(card), place) != route)
    ]
    is_deal = move.turns and move.target != STOCK
    return others if is_deal else [move_words(before, move), *others]


def why_not(game: Game, source: str, target: str) -> str:
    """Why a card does not go from one place to another; empty if it does.

    >>> why_not(Game(deal=17), "T1", "T2")
    'King of diamonds does not go on 2 of hearts at the centre pile.'

    Args:
        game: the position.
        source: a place, as drawings name it: "T0", "W", "F:H", "stock".
        target: another, "F" for the card's foundation, or "" for any.

    Raises:
        ValueError: for a place that the table does not have.
    """
    # 1. Places.
    for place in (source, target):
        if place not in (*places(game), "F", "") or source in ("F", ""):
            raise ValueError(f"unknown place {place!r}: known: {', '.join(places(game))}")
    cards, here = cards_at(game, source), _in(place_words(game, source))
    # 2. The stock, or an empty place.
    if source == "stock" and not target:
        return _reason(game, "deal" if game.stock_size or not game.rules.redeals else "redeal")
    if not cards:
        return f"There is no card on {here}."
    # 3. Targets that no move of the game has.
    card = card_words(cards[-1])
    if not target:
        return f"{_capital(card)} cannot move now."
    if target in ("W", "stock"):
        return f"No card goes back to {_in(target.replace('W', 'waste'))}."
    if source.startswith("F:") and target.startswith("F"):
        return f"{_capital(card)} is on its foundation."
    if target not in ("F", f"F:{cards[-1][1]}") and target.startswith("F"):
        return f"{_capital(card)} does not go to {_in(place_words(game, target))}."
    # 4. A move of the game, which knows the reason.
    onto = "F" if target.startswith("F") else target
    return _reason(game, f"{'S' if source == 'stock' else source}>{onto}")


def _reason(game: Game, move: str) -> str:
    """Why a move is not legal, as `Game.play` says it, with names of cards and piles in words."""
    try:
        game.copy().play(move)
    except IllegalMove as error:
        reason = str(error).partition(": ")[2]
    except ValueError:  # these rules have no such move
        return "A card on a foundation stays there."
    else:
        return ""
    reason = re.sub(r"\b[A2-9TJQK][CSHD]\b", lambda found: card_words(found[0]), reason)
    reason = re.sub(r"\b(T\d+|W)\b", lambda found: _in(place_words(game, found[0])), reason)
    return _capital(reason) + "."
