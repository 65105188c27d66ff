"""`FourSeasonsText-v0`: what it shows and what it reads."""

import copy
import itertools
import pickle
import random
import re
from typing import Any

import gymnasium as gym
import pytest

from four_seasons_env.rewards import ILLEGAL_PENALTY
from four_seasons_env.rules import RULES, SMALL
from four_seasons_env.text import FourSeasonsTextEnv
from four_seasons_env.text.words import instructions, words_of
from tests.helpers import scripted_reply

UNITS = ["move", "position"]
NEAREST = re.compile(r"The nearest legal choice is (\S+)\.")


def opened(deal: int = 17, **arguments: Any) -> FourSeasonsTextEnv:
    """An environment at the opening of a deal."""
    env = FourSeasonsTextEnv(**arguments)
    env.reset(options={"deal": deal})
    return env


def test_rules_take_at_most_220_words() -> None:
    texts = [instructions(rules) for rules in (RULES | SMALL).values()]
    assert max(len(text.split()) for text in texts) <= 220
    assert all(text.isascii() for text in texts)


def test_observation_shows_the_position() -> None:
    env = FourSeasonsTextEnv()
    observation, _ = env.reset(options={"deal": 17})
    assert observation.startswith(instructions(env.rules))
    assert observation.endswith("Legal moves: deal, T3>T0, T4>T1")
    for line in ("Cards up: 1 of 52", "T0: 6D", "Waste: empty", "Stock: 46 cards"):
        assert f"\n{line}\n" in observation
    assert "Foundations: C 7C, next 8C; S empty, next 7S;" in observation
    assert "Unseen cards: C: A 2 3 4 5 6 8 9 T J K; S:" in observation


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ("T0>F, W>T2; deal", "T0>F W>T2 deal"),
        ("Answer: T0>F\nno, rather\nAnswer: deal", "deal"),
        ("Answer: T0>F, deal\n\nThis makes room.", "T0>F deal"),
        ("x" * 10_000 + " Answer: deal", "deal"),
        ("", ""),
        ("<answer>T3&gt;T0, deal", "T3>T0 deal"),
        (r"So $\boxed{\text{T3} \to \text{T0}}$.", "T3>T0"),
        (r"\(\boxed{T_3 \rightarrow T_{0}}\)", "T3>T0"),
        ("```text\nT3>T0\ndeal\n```\n", "T3>T0 deal"),
        ("```\nT0: 6D\n```\nT3>T0", "T3>T0"),
        ('```json\n{"move": "T3>T0", "why": "a space"}\n```', "T3>T0"),
        ('{"moves":["T3>T0","deal"],"answers":1}', "T3>T0 deal"),
        ("{\u201canswer\u201d: \u201cT3>T0\u201d}", "T3>T0"),
        ("{'answer': 'T3>T0'}", "T3>T0"),
        ("<answer>deal</answer> No. Answer: T3>T0", "T3>T0"),
        ("Answer: deal\n\\boxed{T3>T0} or \\boxed{T4>T1}", "T4>T1"),
        ("The answer is **T3>T0**.", "T3>T0"),
        ("Final answer - T3>T0", "T3>T0"),
        ("My move: T3>T0, and then deal...", "T3>T0 deal"),
        ("First, T0 > F.\nThen I will play deal", "deal"),
        ("I like these:\n1. T3>T0\n2. deal", "T3>T0 deal"),
        ("- deal", "deal"),
        ("<think>deal?</think>T3>T0</s>", "T3>T0"),
        ("<think>End with 'Answer: deal'.\n\nFine.</think>\n\nT3>T0", "T3>T0"),
        ("<|start|>assistant<|channel|>final<|message|>deal<|return|>", "deal"),
        ("T3>T0<\uff5cend\u2581of\u2581sentence\uff5c>", "T3>T0"),
        ("T\u200b3>T0\ufeff", "T3>T0"),
        ("T3 \u2192 T0, T4 \u27f6 T1, W \u21d2 F, T0 \u27a1\ufe0f F", "T3>T0 T4>T1 W>F T0>F"),
        ("T3-T0, T4\u2013T1, W to F", "T3>T0 T4>T1 W>F"),
        # What is ambiguous is left for the player to clear up.
        ("not T3>T0", "not T3>T0"),
        ("T3>T0 or deal", "T3>T0 or deal"),
        ("T3 T0", "T3 T0"),
        ("T3>T0>F", "T3>T0>F"),
    ],
)
def test_words_of_a_reply(reply: str, words: str) -> None:
    assert words_of(reply) == words.split()


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ("Answer: \uff12<|eot_id|>", "2"),
        ("Answer: 2\n\nIt frees T3.", "2"),
        ("Answer:\n2. T3>T0, deal", "2 T3>T0 deal"),
        ("-2", "-2"),
        ("2-3", "2-3"),
    ],
)
def test_number_of_a_reply(reply: str, words: str) -> None:
    assert words_of(reply, numbered=False) == words.split()


def test_moves_are_played_until_one_is_illegal() -> None:
    env, plain = opened(), gym.make("FourSeasons-v0")
    plain.reset(options={"deal": 17})
    _, reward, _, _, info = env.step("Answer: t3 > t0, T4>T1, T1>F, deal")
    assert info["moves"] == (24, 29)
    assert info["illegal"]
    news = env.message.split("\n\n")[0]
    assert news.startswith("Played: T3>T0, T4>T1. T1>F is not legal: ")
    assert reward == sum(float(plain.step(move)[1]) for move in (24, 29)) - ILLEGAL_PENALTY
    assert env.game == plain.unwrapped.game  # type: ignore[attr-defined]


def test_choosing_a_position_plays_its_moves() -> None:
    places = set()
    for deal in range(10_017, 10_047):
        envs = [opened(deal, unit="position", choices=3, shuffle=on) for on in (False, True)]
        lists = [re.findall(r"^(\d)\. (.*)$", env.message, re.MULTILINE) for env in envs]
        assert sorted(text for _, text in lists[0]) == sorted(text for _, text in lists[1])
        numbers = {text: number for number, text in lists[1]}
        places.add(numbers[lists[0][0][1]])
        messages = [envs[0].step("1"), envs[1].step(numbers[lists[0][0][1]])]
        assert messages[0][1] == messages[1][1]
        assert messages[0][4]["moves"] == messages[1][4]["moves"]
        assert envs[0].game == envs[1].game
    assert places == set("123")  # the most promising position is anywhere in a shuffled list


@pytest.mark.parametrize(
    ("unit", "reply", "answer"),
    [
        ("move", "deel", '"deel" is not a move. The nearest legal choice is deal.'),
        ("move", "", "The reply has no answer. The nearest legal choice is deal."),
        ("move", "\u2603", '"\\u2603" is not a move.'),
        ("position", "9", '"9" is not one number from 1 to 4. The nearest legal choice is 4.'),
    ],
)
def test_wrong_reply_names_the_nearest_choice(unit: str, reply: str, answer: str) -> None:
    env = FourSeasonsTextEnv(unit=unit)
    before, _ = env.reset(options={"deal": 17})
    after, reward, terminated, truncated, info = env.step(reply)
    assert answer in env.message
    assert after.endswith(before.split("\n\n")[-1])
    assert (reward, terminated, truncated) == (-ILLEGAL_PENALTY, False, False)
    assert info["illegal"]


def test_masked_moves_are_not_offered() -> None:
    env = opened(mask="no_repeats")
    env.step("T3>T0")
    assert "T0>T3" in {move.text for move in env.game.legal_moves()} - set(env._legal())
    env.step("T0>T3")
    assert "T0>T3 is legal, but returns to an earlier position. The nearest" in env.message
    env.step("T1>T3")
    assert "T1>T3 is legal, but only renames spaces. The nearest" in env.message


def test_too_many_wrong_replies_end_the_game() -> None:
    env = opened(tries=2)
    replies = ["?", "?", "deal, ?", "?", "?", "?"]
    ends = [env.step(reply)[2:4] for reply in replies]
    assert ends == [(False, False)] * 5 + [(False, True)]
    assert "The game is over.\n\nCards up: 1 of 52\n" in env.message
    assert "Legal moves" not in env.message
    with pytest.raises(gym.error.ResetNeeded):
        env.step("deal")


@pytest.mark.parametrize("unit", UNITS)
def test_episodes_end(unit: str) -> None:
    assert gym.make("FourSeasonsText-v0", unit=unit).spec.max_episode_steps == 500  # type: ignore[union-attr]
    env = FourSeasonsTextEnv(unit=unit, tries=10**6, max_moves=7)
    env.reset(seed=1)
    assert [env.step("?")[3] for _ in range(7)] == [False] * 6 + [True]
    env.reset(seed=1)
    steps = 0
    while not env.step(scripted_reply(env.message))[3]:
        steps += 1
    assert steps <= 7


@pytest.mark.parametrize("unit", UNITS)
def test_transcript_is_a_chat(unit: str) -> None:
    env = FourSeasonsTextEnv(unit=unit)
    observation, _ = env.reset(options={"deal": 10_025})
    done, rewards = False, 0.0
    while not done:
        assert observation == f"{env.instructions}\n\n{env.message}"
        observation, reward, terminated, truncated, _ = env.step(scripted_reply(env.message))
        rewards += reward
        done = terminated or truncated
    chat = env.transcript()
    roles = [message["role"] for message in chat]
    assert roles == ["system", "user"] + ["assistant", "user"] * (len(chat) // 2 - 1)
    assert chat[0]["content"] == env.instructions
    again = opened(10_025, unit=unit)
    replayed = sum(again.step(each["content"])[1] for each in chat if each["role"] == "assistant")
    assert again.transcript() == chat
    assert replayed == pytest.approx(rewards)  # from Python 3.12 on, `sum` rounds less


def test_copies_continue_alike() -> None:
    env = opened()
    env.step("deal")
    others: list[Any] = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    expected = env.step("deal")[0]
    assert [other.step("deal")[0] for other in others] == [expected] * 2


PIECES = ["T1>T4 T4>T1 ", "deal ", "\\boxed{", "<answer>", "```", "\n1. ", "Answer: ", "1\n\n"]
PIECES += ["#", "9", "T", "&gt;", "<", "\ufdfa", "\ud800", "\x00"]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("rules", ["four-seasons", "pysolfc/simplicity(piles=12)"])
def test_any_reply_is_answered(rules: str, unit: str) -> None:
    """By the moves that were played, or by the nearest choice; also one with an odd piece in it."""
    rng, env = random.Random(2), FourSeasonsTextEnv(rules, unit, tries=50)
    pieces = [piece * times for piece in PIECES for times in (1, 340, 3000)]
    pieces += ["".join(rng.choices(PIECES, k=rng.choice([3, 30, 900]))) for _ in range(40)]
    for piece, inside in itertools.product(pieces, (False, True)):
        observation, _ = env.reset(options={"deal": 20_001})
        assert observation in env.observation_space
        choices = [move.text for move in env.game.legal_moves()]
        if unit == "position":
            choices = re.findall(r"^(\d+)\. ", env.message, re.MULTILINE)
        choice = rng.choice(choices)
        reply = f"Answer: {choice[:1]}{piece}{choice[1:]}" if inside else piece
        observation, *_, info = env.step(reply)
        assert observation in env.observation_space
        news = env.message.partition("\n\n")[0]
        if info["moves"]:
            assert news.startswith("Played: ")
        else:
            (nearest,) = NEAREST.findall(news)
            assert nearest in choices and info["illegal"]
