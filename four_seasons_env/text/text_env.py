"""`FourSeasonsTextEnv`: the game as text, for language models."""

from __future__ import annotations

import string
import zlib
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Text

from four_seasons_env.arguments import WrongType, check_choice, check_positive, names_nearest
from four_seasons_env.engine.deals import check_seed
from four_seasons_env.engine.masks import MASKS
from four_seasons_env.engine.moves import all_moves, find_move
from four_seasons_env.env import FourSeasonsEnv, GameEnv, LimitInSpec, fixed_arguments
from four_seasons_env.episodes.running import why_left_out
from four_seasons_env.episodes.settings import Deals, Starts, arguments_in
from four_seasons_env.game import MAX_MOVES, Game
from four_seasons_env.next_deal.next_deal_env import LARGEST, FourSeasonsNextDealEnv
from four_seasons_env.rewards import ILLEGAL_PENALTY, RewardFunction
from four_seasons_env.rules import Rules
from four_seasons_env.text import words

UNITS = ("move", "position")
_ASKED = {
    "move": (
        "Reply with one or more legal moves in the order in which to play them. Your last line "
        "must be, for example: Answer: T0>F, deal"
    ),
    "position": (
        "Reply with the number of the position in which to turn the next card. Your last line "
        "must be, for example: Answer: 1"
    ),
}


@fixed_arguments
class FourSeasonsTextEnv(LimitInSpec, gym.Env[str, str]):
    """Four Seasons, and its family, as text.

    ## Description
    The game of `FourSeasonsEnv` by the same rules and with the same deals. The observation is a
    prompt, the action a reply.

    ## Action Space
    `Text`: any reply. Its last answer counts, as `Answer: ...`, `<answer>...</answer>`,
    `\\boxed{...}`, `{"answer": ...}` or a block of code at its end; or else its last line, or the
    numbered list at its end. Markup, end tokens and other arrows do not matter. With `unit="move"`
    that is one or more moves, such as `T0>F, W>T2, deal`. They are played in order up to the first
    that cannot be read or is not legal. With `unit="position"` it is the number of one of the
    positions that the observation lists.

    ## Observation Space
    `Text` in ASCII: the rules in up to 220 words, the result of the last reply, the position with
    every card that the player has seen, the unseen cards, and the legal moves or the positions to
    choose among. It does not depend on the order of the unseen cards.

    ## Starting State
    As in `FourSeasonsEnv`: the same seeds and options give the same deals.

    ## Rewards
    As in `FourSeasonsEnv`, for all moves of the reply together. A reply with something that cannot
    be played costs 0.01 more (`rewards.ILLEGAL_PENALTY`).

    ## Episode End
    As in `FourSeasonsEnv` or, with positions, in `FourSeasonsNextDealEnv`. Something that cannot be
    read or played is answered with the reason and the nearest choice. Truncated when more than
    `tries` replies in a row have played nothing, after `max_moves` moves of the game, or after as
    many replies.

    ## Information
    As in `FourSeasonsEnv`. `illegal` says that something could not be read or played; `moves` holds
    the numbers of the moves that were played, a tuple of ints.

    ## Version History
    - v0: first version.

    Examples:
        >>> env = FourSeasonsTextEnv()
        >>> prompt, info = env.reset(options={"deal": 17})
        >>> prompt.splitlines()[-1]
        'Legal moves: deal, T3>T0, T4>T1'
        >>> _ = env.step("A space is worth more than a card. Answer: T3>T0, deal")
        >>> env.message.splitlines()[0]
        'Played: T3>T0, deal.'
    """

    metadata = GameEnv.metadata

    @names_nearest
    def __init__(
        self,
        rules: str | Rules = "four-seasons",
        unit: str = "move",
        choices: int = 8,
        shuffle: bool = True,
        tries: int = 3,
        mask: str = "legal",
        *,
        reward: str | RewardFunction = "foundation",
        render_mode: str | None = None,
        max_moves: int = MAX_MOVES,
        reveal_deal: bool = True,
        deals: Deals | None = None,
        starts: Starts | None = None,
        allow_test_deals: bool = False,
    ) -> None:
        """Make the environment; `FourSeasonsEnv` says more about the arguments that it has, too.

        Args:
            rules: a rule set's name or a `Rules`.
            unit: what a reply names: `"move"`, or `"position"` for one of n positions.
            choices: n, the maximum number of positions to choose among. Only for positions.
            shuffle: list the positions in a random order, which depends only on what the player
                sees. Without it the most promising is first, so that always replying "1" plays
                well. Only for positions.
            tries: replies in a row that may play nothing, before the next one ends the game.
            mask: the moves that a reply may name, as in `FourSeasonsEnv`. Only for moves: positions
                never repeat.
            reward: `"foundation"`, `"win"` or a callable.
            render_mode: None, `"ansi"` or `"rgb_array"`.
            max_moves: moves until an episode is truncated.
            reveal_deal: whether infos have `deal`.
            deals: numbers of deals to draw from; None for all training deals.
            starts: positions in which episodes begin, a list of games or a `Games`; None for deals.
            allow_test_deals: whether `deals` and `starts` may hold test deals.

        Raises:
            ValueError: for an argument that is out of range, with the nearest valid one.
            TypeError: for an unknown argument, with the nearest one.
        """
        shared = arguments_in(locals(), "unit", "choices", "shuffle", "tries", "mask")
        check_choice("unit", unit, UNITS)
        check_choice("shuffle", shuffle, (True, False))
        check_choice("mask", mask, MASKS)
        check_positive("choices", choices, LARGEST["candidates"])
        check_positive("tries", tries)
        # An argument that would have no effect here is refused.
        for name, value, default, of in (
            ("choices", choices, 8, "position"),
            ("shuffle", shuffle, True, "position"),
            ("mask", mask, "legal", "move"),
        ):
            if unit != of and value != default:
                raise ValueError(f'{name}={value!r} is for unit="{of}", not "{unit}"')
        self._unit, self._tries, self._shuffle = unit, tries, shuffle
        self._env: GameEnv
        if unit == "move":
            self._env = FourSeasonsEnv(mask=mask, illegal="raise", **shared)
        else:
            self._env = FourSeasonsNextDealEnv(candidates=choices, illegal="raise", **shared)
        self._batch = self._env._batch
        self.instructions = f"{words.instructions(self.rules)}\n\n{_ASKED[self.unit]}"
        """The rules, and how to reply: the same for all positions."""
        # In characters, with room to spare. The most in three games of each rule set: results of a
        # reply 201, a position 351, legal moves 349, each of the positions to choose among 340.
        longest = len(self.instructions) + 4000 + (800 * choices if unit == "position" else 0)
        self.observation_space = Text(longest, charset=string.printable)
        self.action_space = Text(words.REPLY_LENGTH, min_length=0, charset=string.printable)
        self._transcript: list[dict[str, str]] = []
        self._failed = self._replies = 0
        self._running = False

    # --- what is shown

    @property
    def rules(self) -> Rules:
        """The rule set."""
        return self._env.rules

    @property
    def render_mode(self) -> str | None:  # type: ignore[override]
        """What `render` returns."""
        return self._env.render_mode

    @property
    def unit(self) -> str:
        """What a reply names: "move" or "position"."""
        return self._unit

    @property
    def tries(self) -> int:
        """Replies in a row that may play nothing, before the next one ends the game."""
        return self._tries

    @property
    def game(self) -> Game:
        """A copy of the position."""
        return self._env.game

    @property
    def message(self) -> str:
        """The observation without the instructions."""
        self._batch.check_started()
        return self._transcript[-1]["content"]

    def transcript(self) -> list[dict[str, str]]:
        """The episode so far as chat messages, with `role` and `content` each.

        The first has the role `system` and holds the instructions; then messages of the roles
        `user` (the environment) and `assistant` (the player) take turns.
        """
        return [dict(message) for message in self._transcript]

    def _say(self, news: str, info: dict[str, Any]) -> str:
        """Add a message about the position to the transcript; the observation."""
        parts = [news, words.position_in_words(self.game)]
        if self._running:
            parts.append(self._choices_in_words(info))
        self._transcript.append({"role": "user", "content": "\n\n".join(filter(None, parts))})
        return f"{self.instructions}\n\n{self.message}"

    def _choices_in_words(self, info: dict[str, Any]) -> str:
        """What a reply may name: the legal moves, or a list of positions."""
        if self.unit == "move":
            return f"Legal moves: {', '.join(self._legal())}"
        assert isinstance(self._env, FourSeasonsNextDealEnv)
        lines = ["Positions:"]
        for number, candidate in enumerate(self._listed(info), 1):
            moves = self._env.moves_of(candidate)
            lines.append(f"{number}. {words.candidate_in_words(self.game, moves)}")
        return "\n".join(lines)

    def _listed(self, info: dict[str, Any]) -> list[int]:
        """The candidates in the order of the list: only what a player sees decides it."""
        candidates = range(int(info["action_mask"].sum()))
        if not self._shuffle:
            return list(candidates)
        # The text of the position is the seed: the same position gives the same list.
        rng = np.random.default_rng(zlib.crc32(words.position_in_words(self.game).encode()))
        return [int(each) for each in rng.permutation(candidates)]

    def _legal(self) -> list[str]:
        return [all_moves(self.rules)[number].text for number in np.flatnonzero(self._batch.masks)]

    # --- episodes

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Start an episode; see `FourSeasonsEnv.reset`."""
        super().reset(seed=None if seed is None else check_seed(seed))
        _, info = self._env.reset(seed=seed, options=options)
        self._failed = self._replies = 0
        self._running = True
        self._transcript = [{"role": "system", "content": self.instructions}]
        return self._say("", info), info | {"moves": ()}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play what a reply asks for.

        Raises:
            gymnasium.error.ResetNeeded: before the first reset and after an episode's end.
            TypeError: for a reply that is not text.
        """
        if not self._running:
            raise gym.error.ResetNeeded("no episode is running: call reset() first")
        if not isinstance(action, str):
            raise WrongType(f"a reply must be text, not {type(action).__name__}")
        # 1. Read the reply: several moves, or one number (several are one wrong word).
        self._transcript.append({"role": "assistant", "content": action})
        self._replies += 1
        asked = words.words_of(action, numbered=self.unit == "move") or [""]
        if self.unit == "position":
            asked = [", ".join(asked)]

        # 2. Play it, up to the first word that cannot be played.
        info = self._env._info()
        reward, terminated, truncated, problem = 0.0, False, False, ""
        played: list[int] = []
        for word in asked:
            try:
                number = self._action_of(word, info)
            except ValueError as error:
                problem = str(error)
                reward -= ILLEGAL_PENALTY
                break
            _, earned, terminated, truncated, info = self._env.step(number)
            reward += earned
            played += info.get("moves", (number,))
            if terminated or truncated:
                break

        # 3. The episode also ends after too many replies, or too many in a row that played nothing.
        self._failed = self._failed + 1 if problem and not played else 0
        if self._replies >= self._batch.max_moves or self._failed > self._tries:
            truncated = not terminated
        self._running = not (terminated or truncated)

        # 4. Say what was played, why no more was, and what there is now.
        moves = words.moves_in_words([all_moves(self.rules)[number] for number in played])
        ending = "The game is won." if info["won"] else "The game is over."
        news = [f"Played: {moves}." if moves else "", problem, "" if self._running else ending]
        info |= {"illegal": bool(problem), "moves": tuple(played)}
        if not self._running:
            info["is_success"] = info["won"]
        return self._say(" ".join(filter(None, news)), info), reward, terminated, truncated, info

    def _action_of(self, word: str, info: dict[str, Any]) -> int:
        """The action that a word of an answer asks for.

        Raises:
            ValueError: if it cannot be played, with the reason and the nearest choice.
        """
        if self.unit == "position":
            count = int(info["action_mask"].sum())
            if word.isdecimal() and word.isascii() and 1 <= int(word) <= count:
                return self._listed(info)[int(word) - 1]
            nearest = str(words.nearest_number(word, count))
            reason = f'"{words.shown(word)}" is not one number from 1 to {count}'
        else:
            try:
                number = find_move(self.rules, word).number
                if self._batch.masks[0, number]:
                    return number
                reason = why_left_out(self.game, number)
            except ValueError:
                reason = f'"{words.shown(word)}" is not a move'
            nearest = words.nearest_of(word, self._legal())
        if not word:
            reason = "The reply has no answer"
        raise ValueError(f"{reason}. The nearest legal choice is {nearest}.")

    def render(self) -> Any:
        """See `FourSeasonsEnv.render`."""
        return self._env.render()
