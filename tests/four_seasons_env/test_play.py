"""The game in the hands of people: sessions, the server, the page in a browser."""

import asyncio
import functools
import itertools
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

import pytest

from four_seasons_env.__main__ import main
from four_seasons_env.agents import Agent
from four_seasons_env.engine.moves import find_move
from four_seasons_env.game import Game
from four_seasons_env.play.session import Session
from four_seasons_env.play.words import (
    card_words,
    did_words,
    move_words,
    table_words,
    unseen_words,
    why_not,
)
from four_seasons_env.records import read_records
from four_seasons_env.rendering.layout import cards_at, ends, moved_cards, places
from four_seasons_env.rules import RULES, get_rules
from four_seasons_env.solver import solve
from tests.helpers import (
    REPRESENTATIVES,
    ROOT,
    biased_choice,
    canonical,
    later,
    numbered_deck,
    restocked,
    stock_codes,
)

RUN = "deal deal deal W>T4 deal deal W>T1 W>T0"
"""Moves of deal 30000 of four-seasons-1883, until 3H 2H can go to the 4H."""
DECK = " ".join(numbered_deck(17))
SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143}
OWN = ("Spy", "Faulty", "Counting", "Sleeping")
SPY, FAULTY, COUNTING, SLEEPING = (f"{__name__}:{name}" for name in OWN)
START = {"rules": "four-seasons", "deal": None, "known": list(RULES)}
CARD = re.compile(r"\b[A2-9TJQK][CSHD]\b")
needs_play = functools.partial(pytest.importorskip, reason="needs the extra 'play'")


@functools.cache
def winning_moves(rules: str = "four-seasons", deal: int = 17) -> list[str]:
    game = Game(rules, deal)
    return [move.text for move in solve(game, seconds=30).moves]


# --- words ----------------------------------------------------------------------------------------


@pytest.fixture(params=[*RULES, "four-seasons(runs=True)"])
def positions(request):
    """The positions of a random game of each rule set, each with the move played there."""
    game, rng, played = Game(request.param, 17), random.Random(1), []
    while not game.is_over and len(played) < 60:
        played.append((game.copy(), rng.choice(game.legal_moves())))
        game.play(played[-1][1])
    return played


def test_refusals_have_words(positions):
    for game, _ in positions[::3]:
        legal = {ends(game, move) for move in game.legal_moves() if not move.turns}
        for source, target in itertools.permutations(places(game), 2):
            reason = why_not(game, source, target)
            assert bool(reason) != ((source, target) in legal)
            assert not CARD.search(reason) and not re.search(r"\b[TW]\d*\b|no such", reason)


def test_turned_cards_have_words(positions):
    for game, move in positions:
        after = game.after(move)
        words = did_words("move", game, move, after)
        for card in game.unseen - after.unseen:
            assert f"{card_words(card)} comes to the " in words[:1].lower() + words[1:]


def test_moves_name_the_lowest_card(positions):
    for game, _ in positions:
        for move in game.legal_moves():
            if not move.turns:
                cards = moved_cards(game, move)
                source, target = ends(game, move)
                assert cards == cards_at(game, source)[-len(cards) :]
                assert cards_at(game.after(move), target)[-len(cards) :] == cards
                assert move_words(game, move).startswith(card_words(cards[0]))


def test_cards_that_move_as_one_are_named():
    game = later(Game("four-seasons-1883", 30_000), RUN.split())
    assert move_words(game, find_move(game.rules, "T0>T4")) == (
        "3 of hearts and the card on it from the north pile to the south pile"
    )


def test_tables_have_words(positions):
    game, _ = positions[-1]
    listed = " ".join(table_words(game) + unseen_words(game))
    cards = [card_words(card) for card in itertools.chain(*game.tableau, game.waste)]
    assert re.findall(r"\w+ of \w+", listed) == sorted(cards, key=listed.index)
    assert sum(line.count(", ") + 1 for line in unseen_words(game)) == len(game.unseen)


# --- sessions -------------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path):
    """A file of recorded games."""
    return tmp_path / "games.jsonl"


@pytest.fixture
def session(path):
    """A session of deal 17 that is saved at its end, and has been played up to its last move."""
    needs_play("starlette")
    from four_seasons_env.play.command import recorder

    session = Session("four-seasons", DECK, save=recorder(path, "Ada"))
    for number, move in enumerate(winning_moves()[:-1]):
        session.play(move, by_agent=number == 1)
    return session


def test_finished_game_is_recorded(session, path):
    for _ in range(2):  # the second time ends the game that has been saved
        session.play(winning_moves()[-1])
        session.undo()
    (record,) = read_records(path)
    assert (record.result, record.deck, record.player) == ("won", DECK, "Ada")
    assert (record.undone, record.by_agent, len(record.times)) == (0, 1, len(winning_moves()))


def test_unsaved_game_says_why(session, path):
    path.unlink()
    path.mkdir()
    session.play(winning_moves()[-1])
    assert session.unsaved.startswith(f"The game could not be saved: {path}: ")
    path.rmdir()
    session.undo()
    session.redo()
    assert session.unsaved == "" and path.is_file()


def test_history_continues_a_session(session, path):
    session.play(winning_moves()[-1])
    saved = []
    again = Session("four-seasons", DECK, winning_moves(), session.history, save=saved.append)
    assert again.history == session.history
    again.undo()
    again.redo()
    assert not saved


# --- the server -----------------------------------------------------------------------------------


@pytest.fixture
def new_client():
    """A function that makes a client of a new server, from the arguments of `make_app`."""
    testclient = needs_play("starlette.testclient")
    from four_seasons_env.play.server import LOOPBACK, make_app

    def make(**arguments):
        app = make_app([*LOOPBACK, "X.app.github.dev"], **arguments)
        return testclient.TestClient(app, base_url="http://127.0.0.1:8752")

    return make


@pytest.fixture
def client(new_client):
    return new_client(start=(get_rules("czarina(piles=4)"), DECK), agent=SPY)


def new_game(client, rules: str = "four-seasons", deal: object = 17) -> tuple[dict, str]:
    """The answer of the server and the address of the game."""
    answer = client.post("/api/sessions", json={"rules": rules, "deal": deal})
    assert answer.status_code == 201, answer.text
    return answer.json(), f"/api/sessions/{answer.json()['id']}"


@pytest.mark.parametrize("rules", [*REPRESENTATIVES, "czarina-1898"])
def test_hidden_cards_are_not_sent(client, rules):
    view, path = new_game(client, rules)
    twin, rng = Game(rules, deal=17), random.Random(3)
    while not twin.is_over and twin.moves_played < 60:
        assert [each["move"] for each in view["legal"]] == [m.text for m in twin.legal_moves()]
        move = str(biased_choice(twin.legal_moves(), rng))
        answer = client.post(f"{path}/move", json={"move": move})
        twin.play(move)
        view = answer.json()
        sent = re.sub(r' d=\\"[^"]*"', "", answer.text)  # paths of the drawing have such letters
        sent = sent.replace(view["id"], "")  # random text, which may contain "-3C"
        assert view["cards_up"] == twin.cards_up
        hidden = twin.stock if twin.redeals_left == twin.rules.redeals else []
        assert not {*CARD.findall(sent)} & {*hidden}
        assert not any(card_words(card) in sent for card in hidden)
    listed = client.get(f"{path}?unseen=1").text
    assert not any(f'"{card}"' in listed for card in twin.stock)


def test_a_lost_game_is_recorded_when_left(new_client):
    saved = []
    client = new_client(save=lambda session: saved.append(session.record()))
    history: dict = {}
    # Opened only; not lost; lost, though cards can go back and forth; and once more, as after the
    # server has been started again.
    for moves in (0, 1, 46, 46):
        game = {"deal": 17, "moves": moves * ["deal"], "history": history}
        path = f"/api/sessions/{client.post('/api/sessions', json=game).json()['id']}/leave"
        for _ in range(2):
            history = client.post(path, json={}).json()["history"]
    assert [(len(record.moves), record.result) for record in saved] == [(46, "open")]


def test_the_meter_agrees_with_the_solver(monkeypatch):
    from four_seasons_env.play import advice

    monkeypatch.setattr("four_seasons_env.agents.planner.chances.Judge.chance", lambda *_: None)
    game = Game(deal=17)
    assert advice.chance(game) is None
    assert advice.chance(later(game, 46 * ["deal"])) == 0


class Spy(Agent):
    """An own agent, which chooses the last move and notes what it is shown."""

    shown: list[dict] = []

    def act(self, games, masks, rng):
        self.shown.append({name: games[name].tolist() for name in games.dtype.names})
        return [mask.nonzero()[0][-1] for mask in masks]


def test_an_adviser_cannot_tell_the_deal():
    from four_seasons_env.play import advice

    Spy.shown.clear()
    game = Game(deal=17)
    games = [game, restocked(game, stock_codes(game)[::-1])]
    for each in games:
        advice.choose(SPY, each, custom=SPY)
    first, second = Spy.shown
    assert first == second
    assert first["deal"] == [-1]
    assert advice.values(games[0]) == advice.values(games[1])


@pytest.mark.parametrize(
    ("path", "body", "reason"),
    [
        ("", {"deal": "17; drop"}, "deal must be a number, not '17; drop'"),
        ("", {"moves": [["deal"]]}, "Expected `str`, got `array` - at `$.moves[0]`"),
        ("", '{"x":' + "[" * 60_000, "the request must be JSON"),
        ("/ID/move", '{"move": "deal"}', "the content type must be application/json"),
        ("/ID/move", {"move": "T0>F"}, "starts with 7D, not 6D"),
        ("/ID/undo", {}, "nothing to undo"),
        ("/ID/why?from=T9&to=W", None, "unknown place 'T9'"),
        ("/ID/hint?agent=plannr", None, "did you mean 'planner'"),
    ],
)
def test_wrong_requests_are_refused(client, path, body, reason):
    view, game = new_game(client)
    path = f"/api/sessions{path.replace('ID', view['id'])}"
    content = body if isinstance(body, str) else json.dumps(body)
    # Browsers let pages of other origins send plain text.
    headers = {"content-type": "text/plain" if "content type" in reason else "application/json"}
    how = {} if body is None else {"content": content, "headers": headers}
    answer = client.request("GET" if body is None else "POST", path, **how)
    assert answer.status_code == 400
    assert reason in answer.json()["error"]
    assert client.get(game).json()["places"] == view["places"]


def test_requests_have_limits(client, monkeypatch):
    _, game = new_game(client)
    headers = {"content-type": "application/json"}
    for moves, reason in (
        (["deal"] * 5_001, "5,000 moves"),
        (["x" * 100] * 10_000, "1,000,000 bytes"),
    ):
        content = json.dumps({"moves": moves})
        answer = client.post("/api/sessions", content=content, headers=headers)
        assert answer.status_code == (400 if "moves" in reason else 413)
        assert f"must have at most {reason}" in answer.json()["error"]
    monkeypatch.setattr("four_seasons_env.play.session.SESSION_MOVES", 2)
    status = [client.post(f"{game}/move", json={"move": "deal"}).status_code for _ in range(3)]
    assert status == [200, 200, 400]
    assert client.get(game).json()["moves"] == ["deal"] * 2


def test_long_work_leaves_the_event_loop(client, monkeypatch):
    """Or the server would answer nobody until it is done."""
    from four_seasons_env.play import advice, server

    def beside(work):
        def checked(*args, **how):
            with pytest.raises(RuntimeError):
                asyncio.get_running_loop()
            return work(*args, **how)

        return checked

    monkeypatch.setattr(server, "Session", beside(Session))
    for name in ("choose", "new_moves", "values", "verdict", "chance", "advisers"):
        monkeypatch.setattr(advice, name, beside(getattr(advice, name)))
    _, game = new_game(client)
    for path in ("/hint?agent=heuristic", "/chance", "/verdict"):
        assert client.get(game + path).status_code == 200
    assert client.get("/api/advisers").status_code == 200


def test_every_answer_is_guarded(client, monkeypatch):
    client = type(client)(client.app, raise_server_exceptions=False)
    monkeypatch.setattr("four_seasons_env.play.server.get_rules", lambda name: {}[name])
    requests = [("/", "localhost", 200), ("/page/main.js", "localhost", 200), ("/", "evil", 400)]
    requests += [("/no", "localhost", 404), ("/api/advisers", "localhost", 500)]
    for path, host, status in requests:
        answer = client.get(path, headers={"host": host})
        assert answer.status_code == status
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert "default-src 'none'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("path", "host", "status", "words"),
    [
        ("/", "x.APP.github.dev", 200, "<title>Four Seasons"),
        ("/page/main.js", "[::1]:8752", 200, "import"),
        ("/api/start", "localhost:1", 200, '"czarina(piles=4)","deal":"deck"'),
        ("/page/%2e%2e/server.py", "localhost", 404, "Not Found"),
        ("/api/sessions/nobody/hint?agent=heuristic", "localhost", 404, "has no such game"),
        *(("/", host, 400, f"--allow-host {host}") for host in ("app.github.dev", "", "[::1].dev")),
    ],
)
def test_known_hosts_are_served(client, path, host, status, words):
    answer = client.get(path, headers={"host": host})
    assert answer.status_code == status
    assert words in answer.text
    assert status == 400 or answer.headers["cache-control"] == "no-cache"


def test_agents_and_the_solver_advise(client):
    offered = client.get("/api/advisers?rules=four-seasons").json()["agents"]
    assert offered[:2] == [SPY, "planner"]
    view, path = new_game(client)
    assert client.get(f"{path}/hint?agent={SPY}").json()["move"] == view["legal"][-1]["move"]
    hint = client.get(f"{path}/hint?agent=planner").json()
    words = {each["move"]: each["words"] for each in view["legal"]}
    assert hint["words"] == words[hint["move"]]
    values = [each["value"] for each in hint["alternatives"]]
    assert values == sorted(values, reverse=True)
    chance = client.get(f"{path}/chance").json()["chance"]
    assert chance == pytest.approx(values[0], abs=1e-3)
    assert client.get(f"{path}/verdict").json() == {"verdict": "won"}


class Sleeping(Agent):
    """An own agent that never answers."""

    def act(self, games, masks, rng):
        time.sleep(1000)


class Faulty(Agent):
    """An own agent that cannot play one rule set, and answers with its option."""

    def __init__(self, rules, answer=-1):
        if rules.name == "czarina":
            raise KeyError("czarina")
        self.answer = answer

    def act(self, games, masks, rng):
        return [self.answer + 0]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("-1", "must choose by the masks, not move -1"),
        ('"y"', "failed: TypeError: "),
    ],
)
def test_answers_of_agents_are_checked(new_client, answer, reason):
    name = f"{FAULTY}@answer={answer}"
    client = new_client(agent=name)
    _, game = new_game(client)
    refused = client.get(f"{game}/hint", params={"agent": name})
    assert refused.status_code == 400 and reason in refused.json()["error"]


def test_agents_that_fail_are_not_offered(new_client):
    offered = new_client(agent=FAULTY).get("/api/advisers?rules=czarina").json()["agents"]
    assert "planner" in offered and FAULTY not in offered


class Counting(Spy):
    """An own agent that counts how often it is made."""

    made = 0

    def __init__(self):
        Counting.made += 1


def test_agents_are_kept(monkeypatch):
    """With the plans that they have made, though somebody looks at all rule sets."""
    from four_seasons_env.play import advice

    monkeypatch.setattr(advice, "AGENTS", {"random": None, "heuristic": None})
    monkeypatch.setattr(Counting, "made", 0)
    for _ in range(2):
        for rules in RULES:
            advice.choose(COUNTING, Game(rules, 17), custom=COUNTING)
    assert Counting.made == len(RULES)


def test_a_server_keeps_newest_games(client, monkeypatch):
    monkeypatch.setattr("four_seasons_env.play.server.MAX_GAMES", 2)
    status = [client.get(path).status_code for _, path in [new_game(client) for _ in range(3)]]
    assert status == [404, 200, 200]


def test_a_server_keeps_a_number_of_moves(client, monkeypatch):
    monkeypatch.setattr("four_seasons_env.play.server.MAX_KEPT", 3)
    games = []
    for _ in range(3):
        games.append(new_game(client)[1])
        for change in ("move", "move", "undo"):
            client.post(f"{games[-1]}/{change}", json={"move": "deal"}).raise_for_status()
    assert [client.get(path).status_code for path in games] == [404, 200, 200]


@pytest.mark.parametrize(("rules", "agent"), [("czarina", "greedy"), ("simplicity", "random")])
def test_advice_leads_to_new_positions(client, rules, agent):
    """Until a won game, a lost one, or one where only old positions are left."""
    reached: set[str] = set()
    (_, game), position = new_game(client, rules, 20_000), Game(rules, 20_000)
    while not position.is_over:
        assert canonical(position) not in reached
        reached.add(canonical(position))
        hint = client.get(f"{game}/hint?agent={agent}").json()
        if hint["move"] is None:
            lost = len(position.unseen) < 2 and solve(position, seconds=10).status == "lost"
            words = "This position is lost: " if lost else "Nothing new can be reached: "
            assert hint["words"].startswith(words)
            break
        client.post(f"{game}/move", json={"move": hint["move"]}).raise_for_status()
        position.play(hint["move"])
    assert len(reached) > 20


# --- the command ----------------------------------------------------------------------------------


def hear_ctrl_c() -> None:
    """Although a shell started the tests in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(*flags: str, errors: int | None = None, **environment: str):
    """A server, and its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "four_seasons_env", "play", "--port", "0", *flags],
        cwd=ROOT,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        preexec_fn=hear_ctrl_c if os.name == "posix" else None,  # noqa: PLW1509
    )
    return process, re.search(r"http://[^/]+/", process.stdout.readline())[0]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of a server, after its browser has asked for the start; it cannot save games."""
    needs_play("uvicorn")
    if not Path("/dev/full").exists():
        pytest.skip("this machine has no device on which every write fails")
    visit = "import sys, urllib.request as r; r.urlretrieve(sys.argv[1] + 'api/start', sys.argv[2])"
    answer = tmp_path_factory.mktemp("browser") / "start.json"
    deck = DECK.replace("T", "10").replace("S", "♠").replace(" ", ", ")
    browser = f'{sys.executable} -c "{visit}" %s {answer}'
    process, url = start("--deck", deck, "--record", "/dev/full", BROWSER=browser)
    started = time.monotonic()
    while not (answer.exists() and answer.read_text()) and time.monotonic() < started + 60:
        time.sleep(0.1)
    assert json.loads(answer.read_text()) == START | {"deal": "deck"}
    yield url
    process.terminate()
    process.wait(timeout=60)


def send(url: str, *lines: str) -> socket.socket:
    """A connection in which a request has been sent, or a part of one."""
    connection = socket.create_connection(urlsplit(url).netloc.split(":"))
    connection.sendall("\r\n".join([*lines, "host: localhost", "", ""]).encode())
    return connection


UPLOAD = ("POST /api/sessions HTTP/1.1", "content-type: application/json", "content-length: 9")
LEAVES = 9
"""Seconds until a server has ended: 3, but the machine may have other work."""
ENDS = [pytest.param(number, status, id=number.name) for number, status in SIGNALS.items()]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), ENDS)
def test_a_busy_server_serves_files_and_ends(number, status):
    needs_play("uvicorn")
    process, url = start("--no-browser", "--agent", SLEEPING, errors=subprocess.PIPE)
    send(url, *UPLOAD).close()
    made = urlopen(Request(f"{url}api/sessions", b"{}", {"content-type": "application/json"}))
    hint = f"GET /api/sessions/{json.load(made)['id']}/hint?agent={SLEEPING} HTTP/1.1"
    waiting = [send(url, hint) for _ in range(60)]  # more than there are threads
    assert b"import" in urlopen(f"{url}page/main.js", timeout=60).read()
    waiting.append(send(url, *UPLOAD))
    time.sleep(0.5)
    started = time.monotonic()
    process.send_signal(number)
    printed, errors = process.communicate(timeout=60)
    assert time.monotonic() < started + LEAVES
    assert printed == "waiting for advice and an upload, at most a second\n"
    assert errors == "four_seasons_env: an upload broke off\nstopped\n"
    assert process.returncode == status


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), ENDS)
def test_a_server_that_compiles_ends(number, status, tmp_path):
    needs_play("uvicorn")
    cold = {"NUMBA_CACHE_DIR": str(tmp_path)}
    process, _ = start("--no-browser", errors=subprocess.PIPE, **cold)
    while not list(tmp_path.rglob("*.nbi")):
        time.sleep(0.1)
    started = time.monotonic()
    process.send_signal(number)
    assert process.communicate(timeout=60) == ("", "stopped\n")
    assert time.monotonic() < started + LEAVES
    assert process.returncode == status


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["--host", ""], "--host must be an address, such as 127.0.0.1, not ''"),
        (["--port", "6000"], "--port must be one that browsers open, such as 5999, not 6000"),
        (["--port", "6667"], "such as 6664, not 6667"),
    ],
)
def test_wrong_addresses_are_refused(flags, reason, capsys, tmp_path):
    with pytest.raises(SystemExit):
        main(["play", "--no-browser", *flags, "--record", str(tmp_path / "games.jsonl")])
    assert reason in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_taken_port_is_refused(server, capsys):
    port = int(re.fullmatch(r"http://127\.0\.0\.1:(\d+)/", server)[1])
    with pytest.raises(SystemExit):
        main(["play", "--no-browser", "--port", str(port)])
    assert capsys.readouterr().err.endswith("in use): try --port 0\n")


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("0.0.0.0", "127.0.0.1"),
        ("0", "127.0.0.1"),
        ("::", "[::1]"),
        ("localhost", "localhost"),
    ],
)
def test_the_printed_address_opens(host, name, capsys, monkeypatch):
    """Some browsers cannot open 0.0.0.0, or none that means all addresses."""
    needs_play("uvicorn")
    if ":" in host and not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    monkeypatch.setattr("uvicorn.Server.run", lambda *_, **__: None)
    main(["play", "--no-browser", "--port", "0", "--host", host])
    printed, warning = capsys.readouterr()
    assert f" http://{name}:" in printed
    is_open = f"warning: {host} is open: everybody on the network can reach this server"
    assert warning.startswith(is_open) if host != "localhost" else not warning


# --- the page in a browser ------------------------------------------------------------------------

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
LOAD = 120_000  # milliseconds until agents have been loaded


@pytest.fixture(scope="module", params=[pytest.param("chromium", marks=pytest.mark.slow)])
def browser(request):
    """All tests in a browser are slow."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs the extra 'dev'")
    if CHROMIUM is None:
        pytest.skip("pages are tested in Chromium, and there is none: apt install chromium")
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
    with playwright.sync_playwright() as driver:
        started = getattr(driver, request.param).launch(executable_path=CHROMIUM, args=quiet)
        yield started
        started.close()


@pytest.fixture(params=[1200])
def page(browser, server, request):
    """A new tab; its width is the parameter. The test fails after an error in the page."""
    size = {"width": request.param, "height": 844}
    context = browser.new_context(viewport=size, reduced_motion="reduce", base_url=server)
    page = context.new_page()
    page.device = context.new_cdp_session(page)
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", lambda said: page.errors.append(said.text) if said.type == "error" else None)
    yield page
    assert [error for error in page.errors if "status of 40" not in error] == []
    page.unroute_all(behavior="ignoreErrors")  # of requests under way
    context.close()


both_widths = pytest.mark.parametrize("page", [390, 1500], indirect=True)


def open_page(page, address: str = "/") -> None:
    page.goto(address)
    page.wait_for_selector("#board svg")


def open_deal(page, deal: object = 17, rules: str = "four-seasons") -> None:
    open_page(page, f"/?{urlencode({'rules': rules, 'deal': deal})}")


def wait_for(page, moves: int, act=None, seconds: float = 0) -> None:
    """Act, wait for seconds, and then until the game has this number of moves."""
    if act:
        act()
    page.wait_for_timeout(1000 * seconds)
    page.locator("#count", has_text=re.compile(f"^{moves}$")).wait_for()


def expect(page, *words: str) -> None:
    for each in words:
        page.locator("#message", has_text=each).wait_for()


def press(page, key: str, *moves: int) -> None:
    """Press a key once for each number of moves that the game has afterwards."""
    for number in moves:
        page.keyboard.press(key)
        wait_for(page, number)


def at(page, place: str):
    return page.locator(f'#board [data-at="{place}"]').last


def centre(page, place: str) -> tuple[float, float]:
    box = at(page, place).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def by_touch(page, source: str, target: str) -> None:
    """Touch a card, move the finger in steps, and lift it."""
    (x, y), (to_x, to_y) = centre(page, source), centre(page, target)
    along = [{"x": x + (to_x - x) * i / 10, "y": y + (to_y - y) * i / 10} for i in range(11)]
    for kind, points in [("touchStart", along[:1]), *(("touchMove", [at]) for at in along)]:
        page.device.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    page.device.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def by_dragging(page, source: str, target: str) -> None:
    at(page, source).drag_to(at(page, target), force=True)


def by_keys(page, source: str, target: str) -> None:
    for place in (source, target):
        keys = {"stock": "d", "W": "w", "F": "f"}
        page.keyboard.press(keys.get(place.partition(":")[0]) or str(int(place[1:]) + 1))


def by_clicks(page, *places: str) -> None:
    for place in places:
        at(page, place).click(force=True)


@pytest.mark.parametrize(
    ("rules", "deal", "special"),
    [
        ("four-seasons", 17, {"W>F", "W>T", "T>F", "T>T"}),
        ("czarina-1898", 20_000, {"redeal", "S>F", "S>T"}),
    ],
)
def test_games_are_won_in_every_way(page, rules, deal, special):
    game = Game(rules, deal)
    moves = [find_move(game.rules, text) for text in winning_moves(rules, deal)]
    assert special <= {re.sub(r"\d", "", move.text) for move in moves}
    open_deal(page, deal, rules)
    ways = itertools.cycle((by_dragging, by_keys, by_clicks, by_touch))
    for move in moves:
        if move.turns:
            by_clicks(page, "stock")
        else:
            next(ways)(page, *ends(game, move))
        game.play(move)
        wait_for(page, game.moves_played)
    expect(page, f"Won in {len(moves)} moves", "saved: /dev/full: No space left on device.")


def test_keys_of_other_keyboards(page):
    alt, ctrl, cmd, shift = 1, 2, 4, 8
    steps = [  # key, code, modifiers, moves of the game afterwards
        *[("в", "KeyD", 0, 1), ("В", "KeyD", shift, 2), ("г", "KeyU", 0, 1)],  # noqa: RUF001
        *[("δ", "KeyD", 0, 2), ("'", "Digit4", 0, 2), ("&", "Digit1", 0, 3)],  # Greek; French
        *[("z", "KeyZ", ctrl, 2), ("Z", "KeyZ", ctrl | shift, 3), ("z", "KeyW", cmd, 2)],
        *[("y", "KeyY", ctrl, 3), ("e", "KeyD", 0, 3), ("d", "KeyH", 0, 4)],  # Dvorak
        *[("%", "Digit5", shift, 4), ("@", "Digit2", shift, 4)],  # English: T4>T1 is legal
        *[("d", "KeyD", ctrl, 4), ("z", "KeyZ", ctrl | alt, 4), ("u", "KeyU", 0, 3)],
    ]
    open_deal(page)
    for key, code, held, moves in steps:
        event = {"type": "rawKeyDown", "key": key, "code": code, "modifiers": held}
        page.device.send("Input.dispatchKeyEvent", event)
        wait_for(page, moves)


def test_keys_typed_ahead_wait(page):
    held: list = []
    wait = False

    def hold_one(route):
        nonlocal wait
        if wait:
            held.append(route)
        else:
            route.continue_()
        wait = False

    page.route("**/move?*", hold_one)  # before the page opens, so that it misses no request
    open_deal(page)
    for key in ("w", "Enter"):
        wait = True
        page.keyboard.press("d")  # 5 of hearts
        if key == "Enter":
            at(page, "W").evaluate("place => place.focus()")
        for each in (key, "1"):
            page.keyboard.press(each)
        page.wait_for_timeout(200)
        assert page.inner_text("#count") == "0"
        held.pop().continue_()
        wait_for(page, 2)
        press(page, "u", 1, 0)


def test_letter_keys_can_be_switched_off(page):
    open_deal(page)
    page.click("#keys")
    open_deal(page)
    for key in ("d", "4", "1", "h", "a"):
        page.keyboard.press(key)
    by_clicks(page, "stock")
    wait_for(page, 1, seconds=0.3)
    press(page, "Control+z", 0)
    page.click("#keys")
    press(page, "d", 1)


def test_keys_are_answered_in_words(page):
    open_deal(page)
    expect(page, "four-seasons, deal 17.")
    for key, words in (
        ("u", "No move has been played."),
        ("d", "5 of hearts comes to the waste."),
        ("f", "Choose a card first."),
        ("9", "There is no pile 9."),
        ("3", "2 of hearts cannot move now."),
        ("w", "Chosen: waste, 5 of hearts."),
        ("f", "The foundation starts with 7 of hearts, not 5 of hearts."),
        ("4", "Chosen: east pile, 5 of spades. Targets: north pile."),
    ):
        page.keyboard.press(key)
        expect(page, words)
    labels = page.locator("#board [tabindex]").evaluate_all("all => all.map(e => e.ariaLabel)")
    assert {"stock, 45 cards", "north pile, 6 of diamonds, a target"} <= {*labels}


def test_a_press_moves_one_card(page):
    open_deal(page)
    for place, key in (("h1", "d"), ('#board [aria-label^="stock"]', "Enter"), ("#undo", "Enter")):
        page.locator(place).evaluate("place => place.focus()")
        before = int(page.inner_text("#count"))
        for _ in range(5):
            page.keyboard.down(key)
        page.keyboard.up(key)
        wait_for(page, before + (-1 if place == "#undo" else 1), seconds=0.3)
    open_deal(page, 20_001)
    by_clicks(page, "T1", "T4")
    wait_for(page, 1)
    page.mouse.down(click_count=2)  # on the card from T1, which could go up
    page.mouse.up(click_count=2)
    wait_for(page, 1, seconds=0.3)
    at(page, "T4").dblclick(force=True)
    wait_for(page, 2)


@both_widths
def test_fingers_drag_cards(page):
    page.emulate_media(reduced_motion="no-preference")  # a card that goes back glides
    open_deal(page)
    before = page.inner_html("#board")
    by_touch(page, "T3", "T1")  # is not legal: the card goes back
    expect(page, "5 of spades does not go on king of diamonds at the west pile.")
    wait_for(page, 0, seconds=0.3)
    assert page.inner_html("#board") == before
    by_touch(page, "T3", "T0")
    wait_for(page, 1)
    by_touch(page, "stock", "T2")
    wait_for(page, 2)
    assert page.evaluate("scrollY") == 0


def test_cards_that_move_as_one_are_dragged(page):
    open_deal(page, 30_000, "four-seasons-1883")
    for number, move in enumerate(RUN.split(), 1):
        by_clicks(page, *(["stock"] if move == "deal" else move.split(">")))
        wait_for(page, number)
    page.mouse.move(*centre(page, "T0"))
    page.mouse.down()
    page.mouse.move(*centre(page, "T4"), steps=5)
    dragged = page.locator("#board .dragged")
    assert dragged.evaluate_all("all => all.map(e => e.dataset.card)") == ["3H", "2H"]
    page.mouse.up()
    wait_for(page, number + 1)
    expect(page, "3 of hearts and the card on it from the north pile to the south pile")


@both_widths
def test_the_newest_moves_are_in_view(page):
    open_deal(page)
    press(page, "d", *range(1, 36))
    page.click("#log summary")
    page.wait_for_timeout(100)
    cut = "list => [list.scrollWidth - list.clientWidth, list.scrollHeight - list.clientHeight]"
    wide, high = page.locator("#played").evaluate(cut)
    assert wide == 0
    assert page.locator("#played").evaluate("list => list.scrollTop") == pytest.approx(high, abs=1)


@both_widths
def test_the_page_advises(page):
    open_page(page)
    page.check("#show-chance", timeout=LOAD)
    page.click("#hint", timeout=LOAD)
    page.wait_for_selector("#values:not([hidden])", timeout=LOAD)
    expect(page, "planner suggests: ")
    page.click("#unseen summary")  # draws the table again
    page.locator("#unseen-cards li").first.wait_for()
    assert page.locator("#board .hinted").count() == 2
    page.locator("#chance span", has_text=re.compile(r"^\d+%$")).wait_for()


def test_a_watched_agent_plays_alone(page):
    open_deal(page)
    page.select_option("#agent", "heuristic", timeout=LOAD)
    page.click("#watch")
    page.locator("#count", has_text=re.compile(r"^([6-9]|\d\d)$")).wait_for(timeout=LOAD)
    page.click("#undo")
    page.get_by_role("button", name="Watch it play").wait_for()  # the player's move ended it
    page.wait_for_load_state("networkidle")
    before = int(page.inner_text("#count"))
    wait_for(page, before, seconds=0.5)
    held: list = []
    page.route("**/undo?*", lambda route: held.insert(0, route))
    page.click("#undo")
    page.click("#step")  # the agent answers while the undo is under way
    expect(page, "heuristic plays")
    held.pop().continue_()
    wait_for(page, before - 1, seconds=0.5)


def test_new_games_and_the_way_back(page):
    open_page(page)
    page.fill("#deal", "# 0\u00a0017")
    page.press("#deal", "Enter")
    page.wait_for_url("**deal=17")
    page.click("h1")
    press(page, "d", 1)
    page.select_option("#rules", "czarina-1898")
    page.check("#winnable")
    page.click("#any")
    page.wait_for_url("**?rules=czarina-1898&deal=*")
    found = Game("czarina-1898", int(page.input_value("#deal")))
    assert solve(found, seconds=30).status == "won"
    wait_for(page, 1, page.go_back)
    assert page.input_value("#rules") == "four-seasons"
    page.click("#restart")
    wait_for(page, 0)
    press(page, "r", 1)
    wait_for(page, 0, page.go_back)
    assert page.input_value("#deal") == "deck"
    wait_for(page, 1, page.go_forward)


def test_a_browser_counts_its_deals(page):
    def expect_count(text: str) -> None:
        page.get_by_text(f"Deals won in this browser: {text}", exact=True).wait_for()

    moves = winning_moves()
    open_deal(page, 18)
    press(page, "d", 1, 2)
    expect_count("0 of 1")
    stored = ["four-seasons-game?rules=four-seasons&deal=17", json.dumps({"moves": moves[:-1]})]
    page.evaluate("([name, game]) => { sessionStorage[name] = game; }", stored)
    open_deal(page)
    page.click("#step", timeout=LOAD)  # an agent's win
    wait_for(page, len(moves))
    expect_count("0 of 1")
    press(page, "u", len(moves) - 1)
    press(page, "a", len(moves))
    expect_count("1 of 2")


def test_a_server_started_again_gets_the_game(page):
    with page.expect_response(re.compile(r"/api/sessions\?")) as made:
        open_deal(page)
    forgotten = re.compile(f"/api/sessions/{made.value.json()['id']}/")
    page.route(forgotten, lambda route: route.fulfill(status=404, json={"error": "no such game"}))
    press(page, "d", 1, 2)
    wait_for(page, 2, page.reload)


BOXES = """() => ["header", ".bar", "#board", ".tools", "#message", "aside"].map((part) => {
    const { x, y, right, bottom } = document.querySelector(part).getBoundingClientRect();
    return [x, y, right, bottom];
})"""


def set_text(page, percent: int) -> None:
    """Set the size of text, as in the settings of a browser."""
    sizes = {"standard": 16 * percent // 100, "fixed": 13 * percent // 100}
    page.device.send("Page.setFontSizes", {"fontSizes": sizes})


def overlap(one: list[float], other: list[float]) -> bool:
    return all(one[i] < other[i + 2] - 1 and other[i] < one[i + 2] - 1 for i in (0, 1))


@pytest.mark.parametrize("rules", ["four-seasons", "simplicity"])
def test_nothing_covers_the_board_or_is_cut_off(page, rules):
    open_deal(page, 17, rules)
    page.wait_for_selector("#hint[aria-disabled=false]", timeout=LOAD)
    page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    sizes = itertools.product((320, 390, 801, 831, 1280), (320, 450, 568, 844, 1180), (100, 200))
    for width, height, text in sizes:
        page.set_viewport_size({"width": width, "height": height})
        set_text(page, text)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        boxes = page.evaluate(BOXES)
        pairs = itertools.combinations(boxes, 2)
        assert not [pair for pair in pairs if overlap(*pair)], (width, height, text)
        assert boxes[2][3] - boxes[2][1] <= height + 1
        if text == 100 and height > 400 and (width > 800 or (width, height) == (390, 844)):
            assert boxes[3][3] <= height, "table and buttons are in sight"


def test_a_review_is_not_cut_off(page, tmp_path):
    path = tmp_path / "review.html"
    main(["review", "--agent", "heuristic", "--deal", "10025", "--out", str(path)])
    page.goto(path.as_uri())
    for percent, width in itertools.product((100, 200), (320, 801, 820, 1280)):
        set_text(page, percent)
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.emulate_media(media="print", color_scheme="dark")
    box = page.locator(".scroll")
    assert box.evaluate("box => box.scrollHeight - box.clientHeight") == 0, "all moves are printed"
    assert box.evaluate("box => getComputedStyle(box).color") == "rgb(28, 42, 34)", "as on paper"


STORED = ["{", "5", '["fly"]', '{"rules": "four-seasons", "deal": "17", "moves": ["fly"]}']
SCRIPTS = [  # storage that is blocked or damaged
    """for (const name of ["localStorage", "sessionStorage"])
        Object.defineProperty(window, name, { get() { throw new DOMException("denied"); } });""",
    f"""for (const store of [localStorage, sessionStorage])
        for (const name of ["game", "game?rules=four-seasons&deal=17", "games", "ids"])
            store["four-seasons-" + name] = store.theme = {json.dumps(STORED)}[window.name];""",
]


@pytest.mark.parametrize("script", SCRIPTS, ids=("blocked", "damaged"))
def test_play_needs_no_storage(page, script):
    page.add_init_script(script)
    page.route("**/api/start", lambda route: route.fulfill(json=START))
    addresses = "/", "/?rules=four-seasons&deal=17", "/?rules=<b>"
    for number, address in itertools.product(range(len(STORED)), addresses):
        page.evaluate("number => { window.name = number; }", number)  # for the next page
        open_page(page, address)
        press(page, "d", 1)


def test_a_tab_keeps_its_own_game(page):
    open_deal(page)
    press(page, "d", 1)
    other = page.context.new_page()
    open_deal(other)
    press(other, "d", 1, 2, 3)
    wait_for(page, 1, page.reload)
    with page.context.expect_page() as opened:
        other.evaluate("open(location)")  # a copy of the tab
    wait_for(opened.value, 3)
    press(opened.value, "u", 2)
    wait_for(other, 3, other.reload)
    press(other, "u", 2)
    wait_for(other, 2, other.reload)
    assert other.is_enabled("#redo")  # the server's game, not one set up again
