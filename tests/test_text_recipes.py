"""The recipes for verifiers and OpenEnv play a whole game with scripted replies."""

import json
import re
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from four_seasons_env.text import FourSeasonsTextEnv
from tests.helpers import ROOT, scripted_reply

DEAL = 10_025


@pytest.fixture(autouse=True)
def recipes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "recipes"))


def test_openenv_plays_a_game() -> None:
    """With the messages of OpenEnv's own client."""
    pytest.importorskip("openenv", reason="OpenEnv is not installed")
    from starlette.testclient import TestClient
    from with_openenv import app

    env = FourSeasonsTextEnv(unit="position")
    env.reset(options={"deal": DEAL})
    with TestClient(app).websocket_connect("/ws") as session:

        def ask(what: str, **data: Any) -> dict[str, Any]:
            session.send_json({"type": what, "data": data})
            answer: dict[str, Any] = session.receive_json()["data"]
            return answer

        result = ask("reset", deal=DEAL)
        while not result["done"]:
            assert result["observation"]["message"] == env.message
            reply = scripted_reply(env.message)
            _, reward, *_ = env.step(reply)
            result = ask("step", text=reply)
            assert result["reward"] == reward
        assert result["observation"]["cards_up"] == env.game.cards_up > 1


def test_client_of_the_openenv_page_plays_a_game() -> None:
    pytest.importorskip("openenv", reason="OpenEnv is not installed")
    from uvicorn import Config, Server
    from with_openenv import app

    server = Server(Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    (port,) = [each.getsockname()[1] for each in server.servers[0].sockets]
    page = (ROOT / "docs" / "recipes" / "openenv.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    played = {"model": scripted_reply}
    try:
        exec(code.replace("localhost:8000", f"127.0.0.1:{port}"), played)
    finally:
        server.should_exit = True
        thread.join()
    assert played["result"].observation["cards_up"] > 1


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
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode())

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def model_address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    thread.join()


@pytest.mark.slow  # verifiers starts a process for each reply
def test_verifiers_plays_a_game(model_address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the code of its page."""
    pytest.importorskip("verifiers.v1", reason="verifiers is not installed")
    monkeypatch.setenv("MODEL_KEY", "none")
    page = (ROOT / "docs" / "recipes" / "verifiers.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    code = code.replace("http://localhost:8000/v1", model_address)
    code = code.replace(
        'deals="10000-10199"', f'deals="{DEAL}-{DEAL + 1}", rules="small-4x4-cells"'
    )
    played: dict[str, Any] = {}
    exec(code, played)
    assert [task.data.deal for task in played["env"].taskset] == [DEAL, DEAL + 1]
    episode, trace = played["episode"], played["trace"]
    assert episode.ok, episode.errors
    game = FourSeasonsTextEnv("small-4x4-cells", "position")
    game.reset(options={"deal": DEAL})
    total, done = 0.0, False
    while not done:
        _, reward, terminated, truncated, info = game.step(scripted_reply(game.message))
        total, done = total + reward, terminated or truncated
    assert trace.reward == pytest.approx(total)
    assert trace.metrics["cards_up"] == info["cards_up"]
    assert Model.asked[-1][0] == {"role": "system", "content": game.instructions}
