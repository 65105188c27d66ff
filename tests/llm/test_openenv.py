"""The OpenEnv adapter: a server and a client play a game to its end."""

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from four_seasons_env.text import FourSeasonsTextEnv
from tests.helpers import scripted_reply

pytest.importorskip("openenv", reason="the extra `openenv` is not installed")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    import uvicorn

    from four_seasons_env.adapters.openenv import app

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join()


def test_a_client_plays_a_game_to_its_end(address: str) -> None:
    from four_seasons_env.adapters.openenv import FourSeasonsClient, Reply

    env = FourSeasonsTextEnv()
    env.reset(options={"deal": 10_025})
    with FourSeasonsClient(base_url=address).sync() as client:
        result = client.reset(deal=10_025)
        while not result.done:
            assert result.observation.message == env.message
            reply = scripted_reply(result.observation.message)
            _, reward, *_ = env.step(reply)
            result = client.step(Reply(text=reply))
            assert result.reward == reward
        assert result.observation.cards_up == env.game.cards_up > 1
        state = client.state()
    assert [dict(each) for each in state.transcript] == env.transcript()
    assert state.step_count == len(env.transcript()) // 2 - 1


def test_two_clients_play_games_of_their_own(address: str) -> None:
    from four_seasons_env.adapters.openenv import FourSeasonsClient, Reply

    first, second = (FourSeasonsClient(base_url=address).sync() for _ in "ab")
    with first, second:
        first.reset(deal=10_000)
        second.reset(deal=10_001)
        after = first.step(Reply(text="deal")).observation.message
        first.reset(deal=10_000)
        assert first.step(Reply(text="deal")).observation.message == after
