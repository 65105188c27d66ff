"""The verifiers adapter plays a game to its end, with a scripted server in place of a model."""

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from four_seasons_env.text import FourSeasonsTextEnv
from tests.helpers import scripted_reply

pytest.importorskip("verifiers", reason="the extra `llm` is not installed")


class Model(BaseHTTPRequestHandler):
    """Answers requests of OpenAI's chat format, which ask for streams."""

    asked: list[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(body["messages"])
        content = body["messages"][-1]["content"]
        text = content if isinstance(content, str) else content[-1]["text"]
        reply = {"role": "assistant", "content": scripted_reply(text)}
        choice = {"index": 0, "finish_reason": "stop", "delta": reply}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
        chunk |= {"choices": [choice], "usage": usage}
        assert body["stream"]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode())

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    thread.join()


@pytest.mark.slow  # verifiers starts a process for each reply
@pytest.mark.parametrize("unit", ["move", "position"])
def test_a_game_is_played_to_its_end(
    unit: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import verifiers.v1 as vf

    from four_seasons_env.adapters.verifiers import load_environment

    monkeypatch.setenv("SCRIPTED_KEY", "none")
    env = load_environment(deals="10025-10026", rules="small-4x4", unit=unit)
    assert [task.data.deal for task in env.taskset] == [10_025, 10_026]
    client = vf.EvalClientConfig(base_url=address, api_key_var="SCRIPTED_KEY")
    context = vf.ModelContext(model="scripted", client=client)

    async def play() -> Any:
        async with env.serving():
            return await env.run_episode(next(iter(env.taskset)), context)

    episode = asyncio.run(play())
    assert episode.ok, episode.errors
    (trace,) = episode.traces
    game = FourSeasonsTextEnv("small-4x4", unit)
    game.reset(options={"deal": 10_025})
    total, done = 0.0, False
    while not done:
        _, reward, terminated, truncated, info = game.step(scripted_reply(game.message))
        total, done = total + reward, terminated or truncated
    assert trace.reward == pytest.approx(total)
    assert trace.metrics["cards_up"] == info["cards_up"]
    assert Model.asked[-1][0] == {"role": "system", "content": game.instructions}
