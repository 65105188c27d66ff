"""The game in the hands of people: sessions, the server, the page in a browser."""

import asyncio
import functools
import itertools
import json
import random
import re
import shutil
import socket
import subprocess
import sys
import threading
import webbrowser
from collections.abc import Callable
from urllib.parse import urlencode

import pytest

from four_seasons_env.__main__ import main
from four_seasons_env.engine.moves import Move, find_move
from four_seasons_env.game import Game
from four_seasons_env.play.session import Session, session_view
from four_seasons_env.play.words import card_words, did_words, table_words, unseen_words, why_not
from four_seasons_env.records import read_records
from four_seasons_env.rendering.layout import cards_at, ends
from four_seasons_env.rules import RULES, get_rules
from four_seasons_env.solver import shorten, solve
from tests.helpers import (
    REPRESENTATIVES,
    biased_choice,
    canonical,
    numbered_deck,
    restocked,
    stock_codes,
)

DECK = " ".join(numbered_deck(17))
TINY = RULES["four-seasons"].replace(piles=3, ranks=4)


@functools.cache
def winning_moves() -> list[str]:
    """Moves that win deal 17."""
    game = Game(deal=17)
    return [move.text for move in shorten(game, solve(game, seconds=30).moves)]


# --- sessions -------------------------------------------------------------------------------------


def test_moves_are_taken_back_and_played_again():
    session = Session("four-seasons", 17)
    positions = [session.game.copy()]
    for move in ("deal", "T3>T0", "deal"):
        session.play(move)
        positions.append(session.game.copy())
    for position in positions[-2::-1]:
        session.undo()
        assert session.game == position
    with pytest.raises(ValueError, match="nothing to undo"):
        session.undo()
    for move, error in (("T0>F", "starts with 7D, not 6D"), ("fly", "unknown move 'fly'")):
        with pytest.raises(ValueError, match=error):
            session.play(move)
    for position in positions[1:]:
        assert session.can_redo
        session.redo()
        assert session.game == position
    with pytest.raises(ValueError, match="nothing to redo"):
        session.redo()
    session.restart()
    assert session.game == positions[0]
    session.play("T3>T0")
    assert not session.can_redo
    assert [str(move) for move in session.played] == ["T3>T0"]


def test_times_stop_when_a_game_is_over():
    now = 100.0
    session = Session(TINY, 3, clock=lambda: now)
    rng = random.Random(1)
    while not session.game.is_over:
        now += 2
        session.play(str(biased_choice(session.game.legal_moves(distinct=True), rng)))
    times = session.record().times
    assert times == tuple(2.0 * (i + 1) for i in range(len(session.played)))
    now += 50
    assert session.seconds == times[-1]
    session.undo()
    assert session.seconds == now - 100


def test_finish_plays_cards_up_and_deals_none():
    for rules in ("four-seasons", "czarina", "pysolfc/czarina"):
        for deal in range(20):
            session = Session(rules, deal)
            for _ in range(8):
                session.play(str(session.game.legal_moves()[0]))
            stock, up = session.game.stock_size, session.game.cards_up
            session.finish()
            assert session.game.stock_size == stock
            assert session.game.cards_up == up + len(session.played) - 8
            if rules == "four-seasons":
                assert not any(str(m).endswith(">F") for m in session.game.legal_moves())


# --- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", [*RULES, "four-seasons(runs=True)"])
def test_every_move_or_its_refusal_has_words(rules):
    game, rng = Game(rules, 17), random.Random(1)
    places = [f"T{i}" for i in range(game.rules.piles)]
    places += [*(f"F:{suit}" for suit in "CSHD"), "W", "stock"]
    for _ in range(60):
        legal = {ends(game, move) for move in game.legal_moves() if not move.turns}
        for source, target in itertools.permutations(places, 2):
            reason = why_not(game, source, target)
            assert bool(reason) != ((source, target) in legal)
            assert not re.search(r"\b([TW]\d*|[A2-9TJQK][CSHD])\b|no such move", reason)
        before, move = game.copy(), rng.choice(game.legal_moves())
        game.play(move)
        said = did_words("move", before, move, game)
        for card in before.unseen - game.unseen:
            assert f"{card_words(card)} comes to the " in said[:1].lower() + said[1:]
        if game.is_over:
            break
    listed = " ".join(table_words(game) + unseen_words(game))
    cards = [card_words(card) for card in itertools.chain(*game.tableau, game.waste)]
    assert re.findall(r"\w+ of \w+", listed) == sorted(cards, key=listed.index)
    assert sum(line.count(", ") + 1 for line in unseen_words(game)) == len(game.unseen)


def test_dead_keys_and_wrong_places_have_reasons():
    game = Game("four-seasons", 17)
    while game.stock_size:
        game.play("deal")
    assert why_not(game, "stock", "") == "The stock is empty."
    assert why_not(game, "T0", "").endswith(" cannot move now.")
    with pytest.raises(ValueError, match="unknown place 'T9'"):
        why_not(game, "T9", "W")


# --- the server -----------------------------------------------------------------------------------


@pytest.fixture
def client(tmp_path):
    testclient = pytest.importorskip("starlette.testclient", reason="needs the extra 'play'")
    from four_seasons_env.play.__main__ import _keeper
    from four_seasons_env.play.server import make_app

    start = (get_rules("czarina(piles=4)"), DECK)
    app = make_app(keep=_keeper(tmp_path / "games.jsonl", "Ada"), start=start)
    return testclient.TestClient(app, base_url="http://127.0.0.1:8752")


def new_game(client, rules: str = "four-seasons", deal: object = 17, moves=()) -> tuple[dict, str]:
    """The answer of the server and the address of the game."""
    answer = client.post("/api/sessions", json={"rules": rules, "deal": deal, "moves": [*moves]})
    assert answer.status_code == 201, answer.text
    return answer.json(), f"/api/sessions/{answer.json()['id']}"


def test_start_and_rules_of_the_page(client):
    start = client.get("/api/start").json()
    assert start == {"rules": "czarina(piles=4)", "deal": "deck"}
    assert set(client.get("/api/rules").json()) == {*RULES, start["rules"]}


@pytest.mark.parametrize(
    ("rules", "words", "not_words"),
    [
        ("czarina(piles=4)", ["The stock fills an empty pile at once", "no redeal"], ["reserve"]),
        (
            "florentine",
            ["The centre pile is a reserve", "The waste's or the reserve's card", "over once"],
            [],
        ),
        ("four-seasons(ranks=8)", ["all 32 cards", "ace after 8", "8s go on aces"], ["king"]),
        ("small-4x2-cells", ["A pile holds one card"], [" go on aces"]),
        ("simplicity(base_from=aces)", ["alternate colours", "from its ace"], ["Kings"]),
        ("four-seasons-1883", ["one card or run", "single card", "before you deal"], []),
        ("czarina-1898", ["waste over once", "face up on the stock"], []),
    ],
)
def test_how_to_play_follows_the_rules_on_the_table(rules, words, not_words):
    view = session_view(Session(rules, 17))
    assert all(each in view["how"] for each in words)
    assert not any(each in view["how"] for each in not_words)
    assert 50 <= len(view["how"].split()) <= 92
    assert get_rules(rules).about in view["about"]


@pytest.mark.parametrize(
    ("rules", "deal"), [*((rules, 17) for rules in REPRESENTATIVES), ("czarina-1898", "deck")]
)
def test_a_game_is_sent_without_its_hidden_cards(client, rules, deal):
    view, path = new_game(client, rules, deal)
    twin = Game(rules, deal=17)
    rng = random.Random(3)
    while not twin.is_over and twin.moves_played < 60:
        assert [each["move"] for each in view["legal"]] == [m.text for m in twin.legal_moves()]
        move = str(biased_choice(twin.legal_moves(), rng))
        answer = client.post(f"{path}/move", json={"move": move})
        twin.play(move)
        view, sent = answer.json(), re.sub(r' d=\\"[^"]*"', "", answer.text)  # letters of paths
        assert view["cards_up"] == twin.cards_up
        hidden = twin.stock if twin.redeals_left == twin.rules.redeals else []
        assert not set(re.findall(r"\b[A2-9TJQK][CSHD]\b", sent)) & set(hidden)
        assert not any(card_words(card) in sent for card in hidden)
    listed = client.get(f"{path}?unseen=1").text
    assert not any(f'"{card}"' in listed for card in twin.stock)
    again, other = new_game(client, rules, str(deal), view["moves"])
    assert again["places"] == view["places"]
    assert other != path


def test_an_adviser_cannot_tell_the_deal(monkeypatch):
    from four_seasons_env.play import advice

    class Spy:
        mask = "legal"

        def act(self, games, masks, rng):
            shown.append({name: games[name].tolist() for name in games.dtype.names})
            return masks.argmax(axis=1)

    monkeypatch.setattr(advice, "_adviser", lambda name, rules: Spy())
    shown, judged = [], []
    game = Game(deal=17)
    for order in (stock_codes(game), stock_codes(game)[::-1], sorted(stock_codes(game))):
        same = restocked(game, order)
        advice.choose("heuristic", same)
        judged.append((advice.chance(same), advice.values(same)))
    assert shown[0]["deal"] == [-1]
    assert shown == shown[:1] * 3
    assert judged == judged[:1] * 3


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"rules": "czarena"}, "unknown rules 'czarena': did you mean 'czarina'"),
        ({"deal": "17; drop"}, "deal must be a number"),
        ({"moves": "deal"}, "moves must be a list, not str"),
        ({"moves": [["deal"]]}, "unknown move \"['deal']\""),
        ([], "must be a JSON object, not list"),
        ("{", "the request must be JSON"),
        ("[" * 60_000, "the request must be JSON"),
    ],
)
def test_a_game_that_cannot_be_is_refused(client, body, error):
    content = body if isinstance(body, str) else json.dumps(body)
    for kind, reason in (("application/json", error), ("text/plain", "must be application/json")):
        answer = client.post("/api/sessions", content=content, headers={"content-type": kind})
        assert answer.status_code == 400
        assert reason in answer.json()["error"]


@pytest.mark.parametrize(
    ("path", "host", "status"),
    [
        ("/", "127.0.0.1:8752", 200),
        ("/page/main.js", "localhost", 200),
        ("/api/rules", "evil.example", 400),
        ("/page/../server.py", "localhost", 404),
        ("/page/%2e%2e/server.py", "localhost", 404),
        ("/page/%2fetc/passwd", "localhost", 404),
        ("/api/sessions/nobody", "localhost", 404),
        ("/api/sessions/nobody/hint?agent=heuristic", "localhost", 404),
    ],
)
def test_what_the_server_serves(client, path, host, status):
    answer = client.get(path, headers={"host": host})
    assert answer.status_code == status
    if status == 200:
        assert answer.headers["cache-control"] == "no-cache"
    else:
        assert "import" not in answer.text
    assert ("has no such game" in answer.text) == ("nobody" in path)


def test_other_names_of_the_server_are_refused_with_the_remedy():
    testclient = pytest.importorskip("starlette.testclient", reason="needs the extra 'play'")
    from four_seasons_env.play.server import LOOPBACK, make_app

    client = testclient.TestClient(make_app([*LOOPBACK, "X.app.github.dev"]))
    for host in ("x.APP.github.dev", "[::1]:8752", "localhost:1"):
        assert client.get("/api/start", headers={"host": host}).status_code == 200
    for host in ("app.github.dev", "localhost:1@y.dev", "", "[::1].dev"):
        answer = client.get("/api/start", headers={"host": host})
        assert answer.status_code == 400
        assert f"--allow-host {host}" in answer.text and "DNS rebinding" in answer.text
    deck = {"deal": "deck"}
    answer = client.post("/api/sessions", json=deck, headers={"host": "localhost"})
    assert "no cards for the deal 'deck': start it with --deck" in answer.json()["error"]


def test_a_running_event_loop_is_named(capsys):
    async def notebook():
        main(["play", "--port", "0", "--no-browser"])

    with pytest.raises(SystemExit):
        asyncio.run(notebook())
    said = capsys.readouterr()
    assert "!four-seasons play in a cell" in said.err and not said.out


def test_a_full_disk_loses_no_game(client, tmp_path, capsys):
    resource = pytest.importorskip("resource", reason="limits the size of files")
    path = tmp_path / "games.jsonl"
    *moves, last = winning_moves()
    _, game = new_game(client, deal="deck", moves=moves)

    def change(what: str) -> dict:
        return client.post(f"{game}/{what}", json={"move": last}).raise_for_status().json()

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))  # for a part of a record
    try:
        for what in ("move", "redo", "finish"):
            view = change(what)
            assert view["won"] and view == client.get(game).json() | {
                k: view[k] for k in ("seconds", "said")
            }
            assert view["unsaved"] == f"The game could not be saved: {path}: File too large"
            assert view["unsaved"] in capsys.readouterr().err
            assert path.read_bytes() == b""
            assert change("undo")["unsaved"] == ""
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert change("move")["unsaved"] == ""
    (record,) = read_records(path)
    assert (record.result, record.deck, record.player) == ("won", DECK, "Ada")
    assert capsys.readouterr().err == ""


def test_a_finished_game_is_one_line(client, tmp_path):
    moves, path = winning_moves(), tmp_path / "games.jsonl"
    _, game = new_game(client)

    def change(what: str, move: str = "", agent: str = "") -> dict:
        body = {"move": move, "agent": agent}
        return client.post(f"{game}/{what}", json=body).raise_for_status().json()

    client.get(f"{game}/hint?agent=heuristic").raise_for_status()
    change("move", moves[0])
    change("move", moves[1], "planner")
    change("move", "deal")
    change("undo")
    for move in moves[2:]:
        view = change("move", move)
    assert view["won"]
    for what in ("undo", "redo", "undo", "move", "restart"):
        change(what, moves[-1])
    for move in moves:
        shown = change("move", move)
    assert shown["history"]["by"].startswith("hhp")  # an agent's move, taken back, was a hint
    (record,) = read_records(path)
    counts = record.undone, record.hinted, record.by_agent, len(record.times)
    assert counts == (1, 1, 1, len(moves))

    body = {name: view[name] for name in ("rules", "deal", "moves", "history")}
    again = client.post("/api/sessions", json=body).json()  # after a restart of the server
    assert again["history"] == view["history"]
    game = f"/api/sessions/{again['id']}"
    change("undo")
    change("redo")
    assert len([*read_records(path)]) == 1
    assert new_game(client, moves=moves)[0]["history"]["times"] == []
    huge = {"times": [10**400] * len(moves)}
    for wrong in ({"times": [1.0]}, huge, {"by": "h"}, {"undone": -1}, {"times": 5}):
        refused = client.post("/api/sessions", json=body | {"history": wrong})
        assert refused.status_code == 400 and next(iter(wrong)) in refused.json()["error"]


def test_agents_and_the_solver_advise(client):
    offered = client.get("/api/advisers?rules=four-seasons").json()
    assert (offered["agents"][0], offered["agents"][-1]) == ("planner", "random")
    assert offered["chance"]
    view, path = new_game(client)
    hint = client.get(f"{path}/hint?agent=planner").json()
    legal = {each["move"]: each for each in view["legal"]}
    assert hint["words"] == legal[hint["move"]]["words"]
    values = [each["value"] for each in hint["alternatives"]]
    assert {each["move"] for each in hint["alternatives"]} <= set(legal)
    assert values == sorted(values, reverse=True)
    assert 0 <= values[-1] <= values[0] <= 1
    assert hint["move"] == hint["alternatives"][0]["move"]  # all three moves are worth the same
    chance = client.get(f"{path}/chance").json()["chance"]
    assert chance == pytest.approx(values[0], abs=1e-3)
    refused = client.get(f"{path}/hint?agent=plannr")
    assert refused.status_code == 400
    assert "did you mean 'planner'" in refused.json()["error"]
    assert client.get(f"{path}/verdict").json() == {"verdict": "won"}


@pytest.mark.parametrize(("rules", "agent"), [("czarina", "greedy"), ("simplicity", "random")])
def test_advice_leads_to_new_positions(client, rules, agent):
    """Until a won game, a lost one, or one where only old positions are left."""
    met: set[str] = set()
    (_, game), position = new_game(client, rules, 20_000), Game(rules, 20_000)
    while not position.is_over:
        assert canonical(position) not in met
        met.add(canonical(position))
        hint = client.get(f"{game}/hint?agent={agent}").json()
        if hint["move"] is None:
            assert "Take moves back" in hint["words"] and len(position.unseen) < 2
            break
        client.post(f"{game}/move", json={"move": hint["move"]}).raise_for_status()
        position.play(hint["move"])
    assert len(met) > 20


TINIEST = "four-seasons(piles=2,ranks=4)"
ENDINGS = {  # moves of deal 8, and what advice says then
    "Nothing new can be reached: every move leads back": "deal deal W>F deal deal deal deal deal "
    "deal W>T1 T1>F W>T0 deal T1>T0 W>T1 deal W>F T0>F deal T0>T1 deal W>T0 deal W>F T1>F T0>T1 "
    "W>T0 T0>F T1>T0",
    "This game is lost: no moves from here win it.": "deal deal deal W>T0 T1>T0 W>T1 W>T1 deal "
    "deal deal deal W>T1 deal deal T0>T1 deal W>T1 deal deal",
}


@pytest.mark.parametrize("words", ENDINGS)
def test_advice_says_that_nothing_is_left(client, words):
    view, game = new_game(client, TINIEST, 8, ENDINGS[words].split())
    assert not view["over"]
    hint = client.get(f"{game}/hint?agent=heuristic").json()
    assert hint["move"] is None and hint["words"].startswith(words)


# --- the command ----------------------------------------------------------------------------------


def test_a_port_in_use_is_refused_with_another(capsys):
    pytest.importorskip("uvicorn", reason="the server needs the extra 'play'")
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(SystemExit):
        main(["play", "--no-browser", "--port", str(taken.getsockname()[1])])
    assert capsys.readouterr().err.endswith("in use): try --port 0\n")


def test_a_server_opens_its_browser_and_compiles(monkeypatch):
    uvicorn = pytest.importorskip("uvicorn", reason="the server needs the extra 'play'")
    from four_seasons_env.play import advice

    served, opened, compiled = threading.Event(), threading.Event(), threading.Event()

    def browse(url: str) -> None:
        (port,) = re.findall(r"^http://127\.0\.0\.1:(\d+)/$", url)
        socket.create_connection(("127.0.0.1", int(port)), timeout=5).close()
        if served.wait(5):  # a browser in the terminal returns when it is closed
            opened.set()

    def run(server, sockets) -> None:
        served.set()
        assert opened.wait(5) and compiled.wait(120)

    monkeypatch.setattr(webbrowser, "open", browse)
    monkeypatch.setattr(advice, "verdict", lambda game: compiled.set())  # asked last, at the start
    monkeypatch.setattr(uvicorn.Server, "run", run)
    main(["play", "--port", "0", "--allow-host", "x.dev"])


# --- the page in a browser ------------------------------------------------------------------------

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
GAME = "four-seasons-game"  # in the page's storage
LOAD = 120_000  # milliseconds until agents have been loaded


def widths(*pixels: int) -> list:
    """Parameters of `page`; all its tests are slow."""
    return [pytest.param(each, marks=pytest.mark.slow) for each in pixels]


@pytest.fixture(scope="module")
def server():
    pytest.importorskip("uvicorn", reason="the server needs the extra 'play'")
    command = [sys.executable, "-m", "four_seasons_env", "play", "--no-browser", "--port", "0"]
    command += ["--deck", DECK.replace("T", "10").replace("S", "♠").replace(" ", ", ")]
    command += ["--record", "/dev/full"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    yield re.search(r"http://[^/]+/", process.stdout.readline())[0]
    process.terminate()
    process.wait(timeout=60)  # it may be compiling


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="needs the extra 'dev'")
    if CHROMIUM is None:
        pytest.skip("pages are tested in Chromium, and there is none: apt install chromium")
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=quiet)
        yield chromium
        chromium.close()


@pytest.fixture(params=widths(1200))
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
    assert page.errors == []
    page.unroute_all(behavior="ignoreErrors")  # of requests under way
    context.close()


both_widths = pytest.mark.parametrize("page", widths(390, 1500), indirect=True)


def open_page(page, address: str = "/") -> None:
    page.goto(address)
    page.wait_for_selector("#board svg")


def open_deal(page, deal: int = 17, rules: str = "four-seasons") -> None:
    open_page(page, f"/?rules={rules}&deal={deal}")


def wait_for(page, moves: int, act=None, seconds: float = 0) -> None:
    """Act, and wait until the game has this number of moves; with seconds, check that it stays."""
    if act:
        act()
    page.wait_for_timeout(1000 * seconds)
    page.locator("#count", has_text=re.compile(f"^{moves}$")).wait_for()


def wait_until(page, holds: Callable[[], bool]) -> None:
    """Let the page continue until something holds: events reach a test a little later."""
    for _ in range(200):
        if holds():
            return
        page.wait_for_timeout(50)
    raise AssertionError("it does not hold after ten seconds")


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


def touch(page, kind: str, *fingers: tuple[float, float]) -> None:
    """Send a touchStart, touchMove or touchEnd; fingers are numbered in their order."""
    points = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(fingers)]
    page.device.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def slide(page, start: tuple[float, float], end: tuple[float, float], *others) -> None:
    """Move a finger that touches the page."""
    for i in range(11):
        along = [a + (b - a) * i / 10 for a, b in zip(start, end, strict=True)]
        touch(page, "touchMove", tuple(along), *others)


def by_touch(page, source: str, target: str) -> None:
    start, end = centre(page, source), centre(page, target)
    touch(page, "touchStart", start)
    slide(page, start, end)
    touch(page, "touchEnd")


def drag(page, source: str, target: str) -> None:
    at(page, source).drag_to(at(page, target), force=True)


def by_keys(page, source: str, target: str) -> None:
    for place in (source, target):
        keys = {"stock": "d", "W": "w", "F": "f"}
        page.keyboard.press(keys.get(place.partition(":")[0]) or str(int(place[1:]) + 1))


def by_clicks(page, *places: str) -> None:
    for place in places:
        at(page, place).click(force=True)


def play(page, game: Game, move: Move, way) -> None:
    """Play a move on the page and in a twin of its game."""
    if move.turns:
        by_clicks(page, "stock")
    else:
        way(page, *ends(game, move))
    game.play(move)
    wait_for(page, game.moves_played)


def test_a_whole_game_is_won_by_dragging(page):
    game = Game(deal=17)
    open_deal(page)
    before = page.inner_html("#board")
    by_clicks(page, "T4")
    targets = page.locator("#board .target").evaluate_all("all => all.map(each => each.dataset.at)")
    assert targets == ["T1"]
    drag(page, "T3", "T1")  # is not legal: the card goes back
    wait_for(page, 0, seconds=0.2)
    assert page.inner_html("#board") == before
    for text in winning_moves():
        play(page, game, find_move(game.rules, text), drag)
    assert game.is_won
    assert f"Won in {game.moves_played} moves" in page.inner_text("#message")
    assert "saved: /dev/full: No space left on device." in page.inner_text("#message")
    assert page.inner_text("#up") == "52 of 52"
    page.click("#spoiler summary")
    page.click("#verdict")
    page.locator("#answer", has_text="The game is won.").wait_for(timeout=LOAD)


@pytest.mark.parametrize(
    ("rules", "deal", "special"),
    [
        ("corner-patience", 20_002, {"W to space", "W to T", "W to F"}),
        ("florentine", 20_055, {"W to space", "T2 to space", "W to stock"}),
        ("czarina-1898", 20_026, {"W to stock", "stock to T", "stock to F"}),
        ("corners-hoffmann", 20_048, {"W to stock"}),
    ],
)
def test_special_moves_are_dragged_and_typed(page, rules, deal, special):
    from four_seasons_env.play import advice

    def kind(move) -> str:
        source, target = ends(game, move)
        if not target.startswith("T"):
            return f"{source} to {target.partition(':')[0]}"
        return f"{source} to {'T' if cards_at(game, target) else 'space'}"

    game = Game(rules, deal)
    open_deal(page, deal, rules)
    ways = itertools.cycle((drag, by_keys, by_clicks))
    while special and game.moves_played < 100:
        found = [move for move in game.legal_moves(distinct=True) if kind(move) in special]
        move = found[0] if found else advice.choose("heuristic", game)
        special = special - {kind(move)}
        play(page, game, move, next(ways))
    assert not special


def test_keys_of_other_keyboards(page):
    alt, ctrl, cmd, shift = 1, 2, 4, 8
    steps = [  # key, code, modifiers, moves of the game afterwards
        *[("в", "KeyD", 0, 1), ("В", "KeyD", shift, 2), ("г", "KeyU", 0, 1)],  # noqa: RUF001
        *[("δ", "KeyD", 0, 2)],  # Greek, after Russian
        *[("'", "Digit4", 0, 2), ("&", "Digit1", 0, 3)],  # French: T3>T0
        *[("z", "KeyZ", ctrl, 2), ("Z", "KeyZ", ctrl | shift, 3), ("z", "KeyW", cmd, 2)],
        *[("y", "KeyY", ctrl, 3), ("я", "KeyZ", ctrl, 2), ("я", "KeyZ", cmd | shift, 3)],
        *[("e", "KeyD", 0, 3), ("d", "KeyH", 0, 4)],  # Dvorak
        *[("%", "Digit5", shift, 4), ("@", "Digit2", shift, 4)],  # English: T4>T1 is legal
        *[("d", "KeyD", ctrl, 4), ("z", "KeyZ", ctrl | alt, 4), ("u", "KeyU", 0, 3)],
    ]
    open_deal(page)
    for key, code, held, moves in steps:
        event = {"type": "rawKeyDown", "key": key, "code": code, "modifiers": held}
        page.device.send("Input.dispatchKeyEvent", event)
        wait_for(page, moves)
    page.focus("#deal")
    page.keyboard.press("Control+z")  # of the field
    wait_for(page, moves, seconds=0.2)


def test_a_double_click_moves_a_card_up(page):
    for deal, place in ((20_000, "T0"), (20_002, "T3"), (20_031, "T2")):
        open_deal(page, deal)
        at(page, place).dblclick(force=True)
        wait_for(page, 1)
        assert page.locator("#played li").all_text_contents() == [f"{place}>F"]
    open_deal(page, 20_001)
    by_clicks(page, "T1", "T4")
    wait_for(page, 1)
    page.mouse.down(click_count=2)  # on the card from T1, which could go up
    page.mouse.up(click_count=2)
    wait_for(page, 1, seconds=0.3)


@both_widths
def test_fingers_drag_cards(page):
    open_deal(page)
    before = page.inner_html("#board")
    source, target, other = (centre(page, place) for place in ("T3", "T0", "T4"))
    touch(page, "touchStart", source)
    slide(page, source, other)
    touch(page, "touchStart", other, target)  # a second finger, which would drag
    slide(page, other, source, target)
    dragged = page.locator("#board .dragged")
    assert dragged.count() == 1
    touch(page, "touchEnd")
    wait_for(page, 0, seconds=0.2)
    assert page.inner_html("#board") == before
    touch(page, "touchStart", source)
    slide(page, source, target)
    page.keyboard.press("Escape")
    assert dragged.count() == 0
    touch(page, "touchEnd")
    wait_for(page, 0, seconds=0.2)
    by_touch(page, "T3", "T0")
    wait_for(page, 1)
    assert page.evaluate("scrollY") == 0
    open_deal(page, 20_000)
    for _ in range(2):
        touch(page, "touchStart", centre(page, "T0"))
        touch(page, "touchEnd")
    wait_for(page, 1)
    for places in ("button", "#board svg"):
        actions = page.locator(places).evaluate_all(
            "all => all.map(e => getComputedStyle(e).touchAction)"
        )
        assert set(actions) == {"manipulation"}


@pytest.mark.parametrize("page", widths(390), indirect=True)
def test_a_finger_beside_the_cards_scrolls(page):
    open_deal(page)
    _, y = centre(page, "T2")
    x = page.locator("#board").bounding_box()["x"] + 5
    touch(page, "touchStart", (x, y))
    slide(page, (x, y), (x, y - 200))
    touch(page, "touchEnd")
    page.wait_for_function("scrollY > 100")


@both_widths
def test_the_page_loads_in_place_and_advises(page):
    held: dict = {}
    page.route("**/api/*", lambda route: held.update({route.request.url.split("/")[4]: route}))

    def answer(name: str) -> None:
        page.wait_for_timeout(500)
        next(held.pop(each) for each in [*held] if each.startswith(name)).continue_()

    def places() -> list[float]:
        boxes = [page.locator(each).bounding_box() for each in ("#board", ".tools", "#advice")]
        return [length for box in boxes for length in box.values()]

    page.goto("/")
    for what in ("game", "agents"):
        page.get_by_text(f"Loading the {what}").wait_for()
    assert page.is_disabled("#hint") and page.is_visible("#hint")
    before = places()
    for name in ("rules", "start", "sessions"):
        answer(name)
    page.wait_for_selector("#board svg")
    assert page.is_disabled("#hint")
    answer("advisers")
    page.wait_for_selector("#hint[aria-disabled=false]", timeout=LOAD)
    assert places() == pytest.approx(before, abs=1)
    page.check("#show-chance")
    assert page.inner_text("#chance span")  # at once
    page.click("#hint")
    page.wait_for_selector("#values:not([hidden])", timeout=LOAD)
    assert "planner plays: " in page.inner_text("#message")
    assert page.locator("#board .hinted").count() == 2
    assert page.locator("#values tbody tr").count() >= 3
    page.locator("#chance span", has_text=re.compile(r"^\d+%$")).wait_for()
    page.click("#watch")
    page.locator("#count", has_text=re.compile(r"^([3-9]|\d\d)$")).wait_for()
    page.click("#watch")
    page.click("#spoiler summary")
    page.click("#verdict")
    page.get_by_text("this deal can still be won").wait_for(timeout=LOAD)


def test_watching_ends_where_nothing_is_left(page):
    words, moves = [*ENDINGS.items()][-1]
    moves = moves.split()
    address = f"?{urlencode({'rules': TINIEST, 'deal': 8})}"
    open_page(page)
    stored = {GAME + address: json.dumps({"moves": moves})}
    page.evaluate("stored => Object.assign(sessionStorage, stored)", stored)
    open_page(page, f"/{address}")
    page.click("#watch", timeout=LOAD)
    page.get_by_text(words).wait_for(timeout=LOAD)
    assert page.get_attribute("#watch", "aria-pressed") == "false"
    page.select_option("#rules", "corners")
    assert "Move all 16 cards" in page.inner_text("#how")  # of the game on the table
    page.select_option("#agent", "heuristic")
    press(page, "u", len(moves) - 1, len(moves) - 2)
    page.click("#step")
    wait_for(page, len(moves) - 1)
    kept = page.evaluate("name => JSON.parse(sessionStorage[name]).history", GAME + address)
    assert kept["by"] == "p" * (len(moves) - 2) + "a"


def test_new_games_and_the_way_back(page):
    open_page(page)
    drawing = page.inner_html("#board")
    assert page.input_value("#deal") == "deck"
    page.fill("#deal", "17")
    page.click("#new button:not([type])")
    page.wait_for_url("**deal=17")
    assert page.inner_html("#board") == drawing
    assert "There is no redeal" in page.inner_text("#how")
    press(page, "d", 1)
    page.select_option("#rules", "czarina-1898")
    page.check("#winnable")
    page.click("#any")
    page.wait_for_url("**?rules=czarina-1898&deal=*")
    assert page.input_value("#deal") == page.url.rpartition("=")[2]
    assert "turn the waste over once" in page.inner_text("#how")
    found = Game("czarina-1898", int(page.input_value("#deal")))
    assert solve(found, seconds=30).status == "won"
    wait_for(page, 1, page.go_back)
    assert page.input_value("#rules") == "four-seasons"
    press(page, "d", 2)
    page.click("#restart")
    wait_for(page, 0)
    assert page.is_disabled("#restart")
    press(page, "r", 1)
    wait_for(page, 1, page.reload)
    wait_for(page, 0, page.go_back)
    assert page.input_value("#deal") == "deck"
    wait_for(page, 1, page.go_forward)
    assert page.is_enabled("#redo")
    page.select_option("#rules", "corners")  # the solver wins no deal
    page.click("#any")
    page.get_by_text("could win none of 30 deals").wait_for()
    wait_for(page, 1)


ANY = {"rules": "four-seasons", "deal": None}


def expect(page, *words: str) -> None:
    for each in words:
        page.locator("#message", has_text=each).wait_for()


def test_keys_are_answered_in_words(page):
    def answers(key: str, *words: str) -> None:
        page.keyboard.press(key)
        expect(page, *words)

    open_deal(page)
    expect(page, "four-seasons, deal 17.")
    answers("d", "5 of hearts comes to the waste.")
    answers("u", "Taken back: deal a card.")
    answers("u", "No move has been played.")
    answers("r", "5 of hearts comes to the waste.")
    answers("r", "No move has been taken back.")
    answers("f", "Choose a card first.")
    answers("a", "No card goes up now.")
    answers("9", "There is no pile 9.")
    answers("3", "2 of hearts cannot move now.")
    answers("4", "Chosen: east pile, 5 of spades. Targets: north pile.")
    east, north = at(page, "T3"), at(page, "T0")
    assert east.get_attribute("aria-pressed") == "true"
    assert north.get_attribute("aria-label") == "north pile, 6 of diamonds, a target"
    answers("2", "5 of spades does not go on king of diamonds at the west pile.")
    assert north.get_attribute("aria-label") == "north pile, 6 of diamonds"
    answers("5", "Chosen: south pile, queen of clubs. Targets: west pile.")
    answers("w", "No card goes back to the waste. Chosen: waste, 5 of hearts.")
    answers("f", "The foundation starts with 7 of hearts, not 5 of hearts.")
    drag(page, "T4", "T0")
    expect(page, "Queen of clubs does not go on 6 of diamonds at the north pile.")
    page.wait_for_selector("#hint[aria-disabled=false]", timeout=LOAD)
    answers("h", "plays")
    assert page.locator('#board [aria-label$=", hint: to here"]').count() == 1
    page.keyboard.press("4")
    answers("1", "5 of spades from the east pile to the north pile.")
    page.get_by_text("Table in words").click()
    assert "North pile: 6 of diamonds, 5 of spades" in page.inner_text("#cards")
    answers("2", "Chosen: west pile, ")
    page.get_by_text("Unseen cards").click()  # draws the table again, without the choice
    page.locator("#message", has_text=re.compile("^$")).wait_for(state="attached")
    page.get_by_text(re.compile("^Clubs: ace, 2, ")).wait_for()
    answers("4", "There is no card on the east pile.")
    page.get_by_text("Unseen cards").click()
    page.wait_for_timeout(200)
    expect(page, "There is no card on the east pile.")  # still
    page.select_option("#agent", "heuristic", timeout=LOAD)
    wait_for(page, 3, lambda: page.click("#step"))
    expect(page, "heuristic: ")
    page.click("#restart")
    expect(page, "All moves are taken back.")
    open_deal(page, 20_001)
    answers("a", "Spades up to the ace.")


def test_the_focus_stays_in_reach(page):
    def focused() -> str:
        return page.evaluate("document.activeElement.id || document.activeElement.parentNode.id")

    def enter(place: str, moves: int) -> None:
        wait_for(page, moves, lambda: page.press(place, "Enter"))

    open_deal(page)
    page.get_by_text("Legal moves").click()
    enter("#legal button", 1)
    assert page.evaluate("document.activeElement.closest('ul').id") == "legal"
    enter("#undo", 0)
    enter("#undo", 0)
    assert focused() == "undo"
    expect(page, "No move has been played.")
    enter("#redo", 1)
    enter("#restart", 0)
    assert focused() == "restart"
    page.click("#hint", timeout=LOAD)
    page.locator("#values [aria-current=true] button").wait_for()
    enter("#values button >> nth=0", 1)
    assert focused() == "hint"
    moves = winning_moves()
    stored = {f"{GAME}?rules=four-seasons&deal=deck": json.dumps({"moves": moves[:-1]})}
    page.evaluate("stored => Object.assign(sessionStorage, stored)", stored)
    open_deal(page, "deck")
    page.click("#moves summary")
    enter("#legal button", len(moves))
    assert focused() == "moves"


def test_a_double_click_on_advice_plays_one_move(page):
    open_deal(page)
    page.click("#hint", timeout=LOAD)
    page.locator("#values button", has_text="deal a card").dblclick()
    wait_for(page, 1, seconds=0.5)


def test_twelve_piles_have_keys(page):
    open_deal(page, 17, "simplicity")
    for key, pile in zip("1234567890-=", range(1, 13), strict=True):
        page.keyboard.press("Escape")
        page.keyboard.press(key)
        page.locator("#message", has_text=re.compile(rf"pile {pile},|cannot move")).wait_for()
    german = {"type": "rawKeyDown", "key": "ß", "code": "Minus"}
    page.keyboard.press("Escape")
    page.device.send("Input.dispatchKeyEvent", german)
    page.locator("#message", has_text=re.compile("pile 11,|cannot move")).wait_for()


def test_a_browser_counts_its_deals(page):
    def expect_count(text: str) -> None:
        page.get_by_text(f"Deals won on this browser: {text}", exact=True).wait_for()

    moves = winning_moves()
    open_deal(page, 18)
    expect_count("0 of 0")
    press(page, "d", 1, 2)
    press(page, "u", 1)
    expect_count("0 of 1")
    stored = json.dumps({"moves": moves[:-1]})
    stored = {f"{GAME}?rules=four-seasons&deal=17": stored}
    page.evaluate("stored => Object.assign(sessionStorage, stored)", stored)
    open_deal(page)
    page.click("#step", timeout=LOAD)  # an agent's win
    wait_for(page, len(moves))
    expect_count("0 of 1")
    wait_for(page, len(moves), page.reload)
    for _ in range(2):
        press(page, "u", len(moves) - 1)
        press(page, "a", len(moves))
        expect_count("1 of 2")


def test_a_watched_agent_plays_alone(page):
    def asked(event) -> None:
        name = event.url.partition("?")[0].rpartition("/")[2]
        requests.extend([name] * (name in ("hint", "move")))

    def count() -> int:
        return int(page.inner_text("#count"))

    requests: list[str] = []
    page.on("request", asked)
    open_deal(page, 18)
    open_deal(page)
    page.select_option("#agent", "heuristic", timeout=LOAD)
    page.fill("#deal", "20")
    page.click("#watch")
    page.get_by_text("heuristic plays").wait_for(timeout=LOAD)
    page.evaluate("for (let i = 0; i < 4; i += 1) document.getElementById('watch').click()")
    page.locator("#count", has_text=re.compile(r"^([6-9]|\d\d)$")).wait_for()
    assert "move move" not in " ".join(requests)
    assert page.input_value("#deal") == "20"  # what the player types stays
    page.keyboard.press("Escape")
    page.click("#undo")
    page.get_by_role("button", name="Watch it play").wait_for()  # the player's move ended it
    page.wait_for_load_state("networkidle")
    wait_for(page, count(), seconds=0.5)
    held: list = []
    page.route("**/hint?*", lambda route: held.insert(0, route))
    page.click("#watch")
    page.wait_for_timeout(100)
    wait_for(page, 0, page.go_back)  # deal 18, while the agent thinks
    held.pop().continue_()
    wait_for(page, 0, seconds=0.5)
    page.select_option("#agent", "greedy")
    page.click("#hint")
    expect(page, "because code is compiled")
    held.pop().continue_()
    expect(page, "greedy plays")
    page.click("#hint")
    page.wait_for_timeout(2100)
    assert page.inner_text("#message") == "Thinking …"  # the code is there now
    press(page, "d", 1)
    held.pop().continue_()
    wait_for(page, 1, seconds=0.5)
    assert "plays" not in page.inner_text("#message")


def test_a_number_is_read_as_it_is_typed(page):
    for text in ("# 20\u00a0017", "20,017 ", "020017"):
        open_deal(page)
        page.fill("#deal", text)
        page.press("#deal", "Enter")
        page.wait_for_url("**deal=20017")
        assert page.input_value("#deal") == "20017"
    page.click("h1")
    press(page, "d", 1, 2)
    for deal in (20017, 18, 20017):  # Redo plays again what Open has taken back
        page.fill("#deal", str(deal))
        wait_for(page, 0, lambda: page.press("#deal", "Enter"))
        page.wait_for_url(f"**deal={deal}")
    page.click("h1")
    press(page, "r", 1, 2)


def test_a_key_held_down_acts_once(page):
    open_deal(page)
    for place, key in (("h1", "d"), ('#board [aria-label^="stock"]', "Enter"), ("#undo", "Enter")):
        page.locator(place).evaluate("place => place.focus()")
        before = int(page.inner_text("#count"))
        for _ in range(5):
            page.keyboard.down(key)
        page.keyboard.up(key)
        wait_for(page, before + (-1 if place == "#undo" else 1), seconds=0.3)
    games: list[str] = []
    page.on("request", lambda request: games.extend(re.findall("sessions.*", request.url)))
    page.fill("#deal", "")
    for _ in range(5):
        page.keyboard.down("Enter")
    page.wait_for_url(lambda address: not address.endswith("=17"))
    page.wait_for_load_state("networkidle")
    assert len(games) == 1


def test_an_address_that_cannot_be_opened(page):
    page.route("**/api/start", lambda route: route.fulfill(json=ANY))
    for address, reason in (
        ("?rules=czarina&deal=99999999999999999999", "deal must be "),
        ("?rules=<b>", "unknown rules '<b>'. "),
    ):
        open_page(page, f"/{address}")
        message = page.inner_text("#message")
        assert message.startswith(reason) and message.endswith(" Another game is open.")
        assert len(message) < 120
        assert page.input_value("#rules") == ("czarina" if "czarina" in address else "four-seasons")
        assert "foundations" in page.inner_text("#how")
    press(page, "d", 1)
    page.errors[:] = [error for error in page.errors if "status of 40" not in error]


def test_a_page_without_a_server_loads_nothing(page):
    page.route("**/api/*", lambda route: route.abort())
    page.goto("/")
    expect(page, "The server does not answer.")
    assert not re.search("[Ll]oading the", page.inner_text("main"))
    page.errors.clear()


def test_a_server_started_again_gets_the_game(page):
    def note(answer) -> None:
        if answer.url.partition("?")[0].endswith("/api/sessions"):
            made.append(answer)

    made: list = []
    page.on("response", note)
    open_deal(page)
    page.wait_for_selector("#hint[aria-disabled=false]", timeout=LOAD)
    for moves, key in enumerate("ddh", 1):
        wait_until(page, lambda moves=moves: len(made) == moves)
        # The bodies are read here: reading one inside the event's handler may end too late.
        lost = "|".join(answer.json()["id"] for answer in made)
        forgotten = re.compile(f"/api/sessions/({lost})[/?]")
        page.route(
            forgotten, lambda route: route.fulfill(status=404, json={"error": "no such game"})
        )
        page.keyboard.press(key)
        if key == "h":
            page.get_by_text(" plays: ").wait_for(timeout=LOAD)
        wait_for(page, min(moves, 2))
    wait_until(page, lambda: len(made) == 4)
    page.errors[:] = [error for error in page.errors if "status of 404" not in error]


def test_a_proxy_may_add_a_path(page, server):
    def forward(route) -> None:
        route.fulfill(response=route.fetch(url=route.request.url.replace("proxy/8888/", "")))

    page.route("**/*", lambda route: route.abort())
    page.route(f"{server}proxy/8888/**", forward)
    open_page(page, "/proxy/8888/")
    press(page, "d", 1)
    assert page.url == f"{server}proxy/8888/?rules=four-seasons&deal=deck"
    page.wait_for_selector("#hint[aria-disabled=false]", timeout=LOAD)
    wait_for(page, 1, page.reload)


@pytest.mark.parametrize("page", widths(390), indirect=True)
def test_a_phone_fits_and_obeys_keys(page):
    for rules in [*RULES, "czarina(piles=4)"]:
        open_deal(page, 17, rules)
        assert page.input_value("#rules") == rules
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    open_deal(page)
    first, third = (at(page, place).bounding_box() for place in ("T0", "T2"))
    assert 0 < third["y"] - first["y"] - first["height"] < first["height"] / 2
    board, tools = (page.locator(each).bounding_box() for each in ("#board", ".tools"))
    assert tools["y"] - board["y"] - board["height"] == pytest.approx(0, abs=10)
    assert tools["y"] + tools["height"] < 844
    places = page.locator("#board [tabindex]")
    labels = places.evaluate_all("all => all.map(each => each.getAttribute('aria-label'))")
    assert len(labels) == 5 + 4 + 2
    assert {"stock, 46 cards", "foundation of hearts, empty, starts with 7"} <= set(labels)
    page.locator('#board [aria-label^="stock"]').focus()
    press(page, "Enter", 1)
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "stock, 45 cards"


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


def test_nothing_covers_the_board_or_is_cut_off(page):
    open_deal(page)
    page.click("#hint", timeout=LOAD)
    page.wait_for_selector("#values:not([hidden])", timeout=LOAD)
    page.check("#show-chance")
    page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    for percent, height in itertools.product((100, 150, 200), (450, 568, 1180)):
        set_text(page, percent)
        for width in (320, 390, 640, 801, 831, 1024, 1280):
            page.set_viewport_size({"width": width, "height": height})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            boxes = page.evaluate(BOXES)
            pairs = itertools.combinations(boxes, 2)
            assert not [pair for pair in pairs if overlap(*pair)], (percent, width, height)
            assert boxes[2][3] - boxes[2][1] <= height + 1


def test_a_review_is_not_cut_off(page, tmp_path):
    path = tmp_path / "review.html"
    main(["review", "--agent", "heuristic", "--deal", "10025", "--out", str(path)])
    page.goto(path.as_uri())
    for percent in (100, 200):
        set_text(page, percent)
        for width in (320, 801, 820, 1280):
            page.set_viewport_size({"width": width, "height": 844})
            assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("rules", ["four-seasons", "simplicity"])
def test_the_table_fits_a_low_window(page, rules):
    sizes = (844, 390), (568, 320), (1024, 600)
    for (width, height), text in itertools.product(sizes, ("100%", "200%")):
        page.set_viewport_size({"width": width, "height": height})
        open_deal(page, 17, rules)
        page.add_style_tag(content=f"html {{ font-size: {text}; }}")  # unknown to media queries
        board = page.locator("#board").bounding_box()
        assert 0 <= board["y"] <= board["y"] + board["height"] <= height
        cards = page.locator("#board .card").evaluate_all(
            "all => all.map((each) => each.getBoundingClientRect().toJSON())"
        )
        assert max(card["bottom"] for card in cards) <= height
        assert min(card["width"] for card in cards) > width / 20


def test_forced_colours_keep_the_marks(page):
    def backgrounds(*parts: str) -> set[str]:
        script = "each => getComputedStyle(each).backgroundColor"
        return {page.locator(part).evaluate(script) for part in parts}

    page.emulate_media(forced_colors="active")
    open_deal(page)
    page.click("#colours")
    assert len(backgrounds("#colours", "#theme")) == 2
    page.check("#show-chance", timeout=LOAD)
    assert len(backgrounds(".track", ".value")) == 2


BLOCKED = """for (const name of ["localStorage", "sessionStorage"])
    Object.defineProperty(window, name, { get() { throw new DOMException("denied"); } });"""
FULL = """Storage.prototype.setItem = () => { throw new DOMException("exceeded the quota"); };"""
DAMAGED = """for (const store of [localStorage, sessionStorage])
    for (const name of ["game", "game?rules=four-seasons&deal=17", "games", "ids"])
        store["four-seasons-" + name] = store.theme = window.name;"""
VALUES = ["", "{", "null", "5", "[]", '["fly"]', '{"?rules=four-seasons&deal=17": "x/hint"}']
GAMES = [{"moves": ["fly"]}, {"moves": 5}, {"deal": 17}, {"deal": {}, "moves": []}]
VALUES += [json.dumps({"rules": "four-seasons", "deal": "17"} | each) for each in GAMES]
TWICE = ("/", "/?rules=four-seasons&deal=17")


@pytest.mark.parametrize("script", [BLOCKED, FULL])
def test_play_needs_no_storage(page, script):
    page.add_init_script(script)
    page.route("**/api/start", lambda route: route.fulfill(json=ANY))
    for address in TWICE:
        open_page(page, address)
        press(page, "d", 1)
    assert re.search("browser: 0 of [12]$", page.inner_text("#tally"))
    page.click("#theme")
    assert page.get_attribute("html", "data-theme") == "dark"
    page.click("#hint", timeout=LOAD)
    page.get_by_text("planner plays").wait_for()


def test_what_is_stored_may_be_damaged(page):
    page.route("**/api/start", lambda route: route.fulfill(json=ANY))
    open_page(page)
    page.add_init_script(DAMAGED)
    for text, address in itertools.product(VALUES, TWICE):
        page.evaluate("text => { window.name = text; }", text)  # for the next page
        open_page(page, address)
        press(page, "d", 1)
    page.errors[:] = [error for error in page.errors if "status of 40" not in error]


def test_a_tab_keeps_its_own_game(page):
    open_deal(page)
    press(page, "d", 1)
    other = page.context.new_page()
    open_deal(other, 18)
    press(other, "d", 1, 2)
    open_deal(other)
    press(other, "d", 1, 2, 3)
    wait_for(page, 1, page.reload)
    press(page, "u", 0)
    wait_for(other, 3, other.reload)
    with page.context.expect_page() as opened:
        other.evaluate("open(location)")  # a copy of the tab
    wait_for(opened.value, 3)
    press(opened.value, "u", 2)
    wait_for(other, 3, other.reload)
    press(other, "u", 2)
    wait_for(other, 2, other.reload)
    assert other.is_enabled("#redo")  # the server's game, not one set up again
    other.route("**/api/sessions/*", lambda route: route.fulfill(status=404, json={}))
    wait_for(other, 2, other.reload)
    assert other.is_disabled("#redo")
    last = page.context.new_page()
    last.route("**/api/start", lambda route: route.fulfill(json=ANY))
    last.goto("/")
    wait_for(last, 2)  # the last game, where nothing names a deal
