"""The TextArena adapter plays a game to its end."""

import pytest

from tests.helpers import scripted_reply

pytest.importorskip("textarena", reason="the extra `llm` is not installed")


@pytest.mark.parametrize("unit", ["move", "position"])
def test_a_game_is_played_to_its_end(unit: str) -> None:
    import textarena as ta

    import four_seasons_env.adapters.textarena  # noqa: F401

    env = ta.make("FourSeasons-v0", deal=10_025, unit=unit)
    env.reset(num_players=1)
    done, prompts = False, []
    while not done:
        player, observation = env.get_observation()
        prompts += [text for _, text, kind in observation if kind == ta.ObservationType.PROMPT]
        done, _ = env.step(scripted_reply(observation[-1][1]))
    rewards, infos = env.close()
    assert prompts == [env.game.instructions]
    up = env.game.game.cards_up
    assert rewards[player] == pytest.approx((up - 1) / 52 + env.game.game.is_won)
    assert str(up) in infos[player]["reason"] or env.game.game.is_won


def test_an_unreadable_reply_is_answered_and_does_not_end_the_game() -> None:
    import textarena as ta

    import four_seasons_env.adapters.textarena  # noqa: F401

    env = ta.make("FourSeasons-v0", deal=10_025)
    env.reset(num_players=1)
    env.get_observation()
    assert not env.step("I do not know.")[0]
    answer = env.get_observation()[1][-1][1]
    assert "is not a move. The nearest legal choice is" in answer
