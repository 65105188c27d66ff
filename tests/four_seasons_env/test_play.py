"""The game in the hands of people: sessions, the server, the page in a browser."""

import json
import random
import re
import shutil
import socket
import subprocess
import sys
import threading
import webbrowser

import pytest

from four_seasons_env.__main__ import main
from four_seasons_env.engine.cards import deck_text
from four_seasons_env.game import Game, IllegalMove
from four_seasons_env.play.session import Session
from four_seasons_env.play.words import card_words
from four_seasons_env.records import read_records
from four_seasons_env.rules import RULES, get_rules
from four_seasons_env.solver import solve
from tests.helpers import ROOT, biased_choice, mostly_slow, restocked, stock_codes

DECK = deck_text(Game(deal=17).record["deck"][0])
TINY = RULES["four-seasons"].replace(piles=3, ranks=4)

# --- sessions -------------------------------------------------------------------------------------


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


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
    for position in positions[1:]:
        assert session.can_redo
        session.redo()
        assert session.game == position
    with pytest.raises(ValueError, match="nothing to redo"):
        session.redo()


def test_a_new_move_forgets_those_taken_back():
    session = Session("four-seasons", 17, ["deal", "deal"])
    session.undo()
    session.play("T3>T0")
    assert not session.can_redo
    assert [str(move) for move in session.played] == ["deal", "T3>T0"]


def test_a_refused_move_changes_nothing():
    session = Session("four-seasons", 17, ["deal"])
    session.undo()
    before = session.game.copy()
    with pytest.raises(IllegalMove, match="starts with 7D, not 6D"):
        session.play("T0>F")
    with pytest.raises(ValueError, match="unknown move 'fly'"):
        session.play("fly")
    assert session.game == before
    assert session.played == []
    assert session.can_redo


def test_times_stop_when_a_game_is_over():
    clock = Clock()
    session = Session(TINY, 3, clock=clock)
    rng = random.Random(1)
    while not session.game.is_over:
        clock.now += 2
        session.play(str(biased_choice(session.game.legal_moves(distinct=True), rng)))
    assert session.times == [2.0 * (i + 1) for i in range(len(session.played))]
    clock.now += 50
    assert session.seconds == session.times[-1]
    session.undo()
    assert session.seconds == clock.now - 100


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


# --- the server -----------------------------------------------------------------------------------


@pytest.fixture
def client(tmp_path):
    pytest.importorskip("starlette", reason="the server needs the extra 'play'")
    pytest.importorskip("httpx2", reason="Starlette's test client needs httpx2")
    from starlette.testclient import TestClient

    from four_seasons_env.play.__main__ import _keeper
    from four_seasons_env.play.server import make_app

    start = (get_rules("czarina(piles=4)"), DECK)
    app = make_app(keep=_keeper(tmp_path / "games.jsonl", "Ada"), start=start)
    return TestClient(app, base_url="http://127.0.0.1:8752")


def new_game(client, rules: str = "four-seasons", deal: object = 17, moves=()) -> dict:
    answer = client.post("/api/sessions", json={"rules": rules, "deal": deal, "moves": [*moves]})
    assert answer.status_code == 201, answer.text
    return answer.json()


def test_start_and_rules_of_the_page(client):
    start = client.get("/api/start").json()
    assert start == {"rules": "czarina(piles=4)", "deal": "deck"}
    how = {each["name"]: each["how"] for each in client.get("/api/rules").json()}
    assert set(how) == {*RULES, start["rules"]}
    assert 50 <= len(how["four-seasons"].split()) <= 65
    assert all(len(words.split()) <= 80 for words in how.values())


def test_a_game_is_played_through_the_server(client):
    view = new_game(client)
    path = f"/api/sessions/{view['id']}"
    twin = Game(deal=17)
    rng = random.Random(2)
    for _ in range(30):
        assert [each["move"] for each in view["legal"]] == [str(m) for m in twin.legal_moves()]
        move = str(biased_choice(twin.legal_moves(), rng))
        twin.play(move)
        view = client.post(f"{path}/move", json={"move": move}).json()
        assert view["cards_up"] == twin.cards_up
    assert client.get(path).json()["moves"] == view["moves"]
    undone = client.post(f"{path}/undo", json={}).json()
    assert undone["moves"] == view["moves"][:-1]
    assert undone["can_redo"]
    assert client.post(f"{path}/redo", json={}).json()["moves"] == view["moves"]
    again = client.post(
        "/api/sessions", json={"rules": "four-seasons", "deal": "17", "moves": view["moves"]}
    )
    assert again.json()["places"] == view["places"]
    assert again.json()["id"] != view["id"]


@pytest.mark.parametrize("rules", mostly_slow(RULES))
@pytest.mark.parametrize("deal", [17, "deck"])
def test_no_hidden_card_is_sent(client, rules, deal):
    """Nothing that the page receives names a card that has not been dealt."""
    view = new_game(client, rules, deal)
    path = f"/api/sessions/{view['id']}"
    twin = Game(rules, deal=17)
    rng = random.Random(3)
    while not twin.is_over and twin.moves_played < 60:
        move = str(biased_choice(twin.legal_moves(), rng))
        sent = client.post(f"{path}/move", json={"move": move}).text
        twin.play(move)
        sent = re.sub(r' d=\\"[^"]*"', "", sent)  # the letters of paths
        hidden = twin.stock if twin.redeals_left == twin.rules.redeals else []
        assert not set(re.findall(r"\b[A2-9TJQK][CSHD]\b", sent)) & set(hidden)
        assert not any(card_words(card) in sent for card in hidden)
    listed = client.get(f"{path}?unseen=1").text
    assert not any(f'"{card}"' in listed for card in twin.stock)


def test_the_unseen_cards_are_listed_in_no_order(client):
    from four_seasons_env.play.view import session_view

    session = Session("four-seasons", 17)
    other = Session("four-seasons", 17)
    other.game = restocked(other.game, stock_codes(other.game)[::-1])
    assert session_view(session, unseen=True)["svg"] == session_view(other, unseen=True)["svg"]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"rules": "czarena"}, "unknown rules 'czarena': did you mean 'czarina'"),
        ({"deal": -1}, "a deal is a number from 0"),
        ({"deal": "17; drop"}, "a deal is a number"),
        ({"deal": True}, "a deal is a number"),
        ({"moves": "deal"}, "'moves' must be a list"),
        ({"moves": [["deal"]]}, "unknown move \"['deal']\""),
        ({"moves": ["T0>F"]}, "is not legal"),
    ],
)
def test_a_game_that_cannot_be_is_refused(client, body, error):
    answer = client.post("/api/sessions", json=body)
    assert answer.status_code == 400
    assert error in answer.json()["error"]


@pytest.mark.parametrize("content", ["{", "[]", "[" * 60_000])
def test_garbage_is_refused(client, content):
    view = new_game(client)
    path = f"/api/sessions/{view['id']}/move"
    headers = {"content-type": "application/json"}
    answer = client.post(path, content=content, headers=headers)
    assert answer.status_code == 400
    assert answer.json()["error"]
    assert client.post(path, content='{"move": "deal"}').status_code == 400  # not said to be JSON


def test_other_names_of_the_host_are_refused(client):
    assert client.get("/api/rules", headers={"host": "evil.example"}).status_code == 400
    assert client.get("/api/rules", headers={"host": "localhost:8752"}).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/page/../server.py",
        "/page/%2e%2e/server.py",
        "/page/%2fetc/passwd",
    ],
)
def test_files_outside_the_page_are_not_served(client, path):
    answer = client.get(path)
    assert answer.status_code in (400, 404)
    assert "import" not in answer.text


def test_a_game_that_is_not_kept_is_unknown(client):
    for path in ("", "/hint?agent=heuristic", "/chance", "/verdict"):
        assert client.get(f"/api/sessions/nobody{path}").status_code == 404
    answer = client.post("/api/sessions/nobody/undo", json={})
    assert answer.status_code == 404
    assert "has no such game" in answer.json()["error"]


@pytest.mark.parametrize("prefix", ["", "/proxy/8888"])
def test_the_page_is_served_under_any_path(client, prefix):
    from starlette.applications import Starlette
    from starlette.routing import Mount

    app = Starlette(routes=[Mount(prefix, client.app)])
    client = type(client)(app, base_url=client.base_url)
    answer = client.get(prefix)  # Starlette adds the slash
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-cache"
    names = re.findall(r'(?:src|href)="([^"]+)"', answer.text)
    assert len(names) == 3
    for name in names:
        assert client.get(str(answer.url.join(name))).status_code == 200, name


def test_a_full_disk_loses_no_game(client, tmp_path, capsys):
    resource = pytest.importorskip("resource", reason="limits the size of files")
    path = tmp_path / "games.jsonl"
    moves = [move.text for move in solve(Game(deal=17), seconds=30).moves]
    game = f"/api/sessions/{new_game(client, deal='deck', moves=moves[:-1])['id']}"

    def change(what: str) -> dict:
        return client.post(f"{game}/{what}", json={"move": moves[-1]}).raise_for_status().json()

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    change("move")
    saved = path.read_bytes()
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(saved) + 100, hard))  # for a part of a record
    try:
        for what in ("redo", "finish"):
            change("undo")
            view = change(what)
            assert view["won"] and view == client.get(game).json() | {"seconds": view["seconds"]}
            assert view["unsaved"] == f"The game could not be saved: {path}: File too large"
            assert view["unsaved"] in capsys.readouterr().err
            assert path.read_bytes() == saved
        assert change("undo")["unsaved"] == ""
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert change("move")["unsaved"] == ""
    assert [(each.result, each.deck) for each in read_records(path)] == [("won", DECK)] * 4
    assert capsys.readouterr().err == ""


def test_agents_advise(client):
    offered = client.get("/api/advisers?rules=four-seasons").json()
    assert offered["agents"][0] == "planner"
    assert offered["agents"][-1] == "random"
    assert offered["chance"]
    view = new_game(client)
    path = f"/api/sessions/{view['id']}"
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


def test_the_solver_tells_of_the_true_deal(client):
    path = f"/api/sessions/{new_game(client, deal=17)['id']}"
    assert client.get(f"{path}/verdict").json() == {"verdict": "won"}


def test_advice_ignores_the_order_of_the_stock():
    from four_seasons_env.play import advice

    game = Game(deal=17)
    game.play("deal")
    other = restocked(game, stock_codes(game)[::-1])
    assert advice.chance(game) == advice.chance(other)
    assert advice.values(game) == advice.values(other)


# --- the command ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "error"),
    [
        (["--rules", "czarena"], "did you mean 'czarina'"),
        (["--deal", "-1"], "a deal is a number from 0"),
        (["--deck", ""], "missing: AC AS"),
        (["--deck", DECK.replace("6H", "6X")], "unknown card '6X'"),
        (["--deck", DECK, "--rules", "four-seasons(ranks=4)"], "above the highest rank 4: 5C"),
        (["--deck", DECK, "--deal", "17"], "give --deal or --deck, not both"),
        (["--port", "99999"], "--port is a number from 0 to 65535, not 99999"),
        (["--host", "192.0.2.1"], "cannot listen on 192.0.2.1:8752"),
        (["--record", "tests"], "tests: Is a directory"),
    ],
)
def test_wrong_flags_of_the_command(flags, error, monkeypatch, capsys):
    pytest.importorskip("uvicorn", reason="the server needs the extra 'play'")
    monkeypatch.chdir(ROOT)
    with pytest.raises(SystemExit) as stopped:
        main(["play", *flags])
    assert stopped.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert error in line


def test_the_browser_opens_a_server_that_listens(monkeypatch):
    uvicorn = pytest.importorskip("uvicorn", reason="the server needs the extra 'play'")
    served, opened = threading.Event(), threading.Event()

    def browse(url: str) -> None:
        name, port = url.removeprefix("http://").rstrip("/").split(":")
        socket.create_connection((name, int(port)), timeout=5).close()
        if served.wait(5):  # a browser in the terminal returns when it is closed
            opened.set()

    monkeypatch.setattr(webbrowser, "open", browse)
    monkeypatch.setattr(uvicorn.Server, "run", lambda *args, **how: served.set() or opened.wait(5))
    main(["play", "--port", "0"])
    assert opened.is_set()


def test_the_command_listens_on_loopback():
    from four_seasons_env.play.__main__ import _parser

    assert _parser().parse_args([]).host == "127.0.0.1"


# --- the page in a browser ------------------------------------------------------------------------

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def server():
    pytest.importorskip("uvicorn", reason="the server needs the extra 'play'")
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "four_seasons_env", "play", "--no-browser", "--port", "0"),
            *("--deck", DECK.replace("T", "10").replace("S", "♠").replace(" ", ", ")),
            *("--record", "/dev/full"),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    found = re.search(r"http://[^/]+/", process.stdout.readline())
    assert found
    yield found.group(0)
    process.terminate()
    process.wait(timeout=60)  # it may be compiling


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="pages are tested with playwright (extra 'dev')"
    )
    if CHROMIUM is None:
        pytest.skip("pages are tested in Chromium, and there is none: apt install chromium")
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    quiet += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=quiet)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser, server):
    context = browser.new_context(
        viewport={"width": 1200, "height": 900}, reduced_motion="reduce", base_url=server
    )
    page = context.new_page()
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", lambda said: page.errors.append(said.text) if said.type == "error" else None)
    yield page
    page.unroute_all(behavior="ignoreErrors")  # of requests under way
    context.close()


def open_deal(page, rules: str, deal: int) -> None:
    page.goto(f"/?rules={rules}&deal={deal}")
    page.wait_for_selector("#board svg")


def count(page) -> int:
    return int(page.inner_text("#count"))


def wait_for(page, moves: int) -> None:
    from playwright.sync_api import expect

    expect(page.locator("#count")).to_have_text(str(moves))


def middle(page, place: str) -> tuple[float, float]:
    box = page.locator(f'#board [data-at="{place}"]').last.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page, source: str, target: str) -> None:
    page.mouse.move(*middle(page, source))
    page.mouse.down()
    page.mouse.move(*middle(page, target), steps=3)
    page.mouse.up()


@pytest.mark.slow
def test_a_whole_game_is_won_by_dragging(page):
    from four_seasons_env.rendering.places import ends
    from four_seasons_env.solver import shorten

    game = Game(deal=17)
    open_deal(page, "four-seasons", 17)
    moves = shorten(game, solve(game, seconds=30).moves)
    for number, move in enumerate(moves, 1):
        source, target = ends(game, move)
        if source == "stock":
            page.mouse.click(*middle(page, "stock"))
        else:
            drag(page, source, target)
        wait_for(page, number)
        game.play(move)
    assert game.is_won
    assert f"Won in {len(moves)} moves" in page.inner_text("#message")
    assert "saved: /dev/full: No space left on device." in page.inner_text("#message")
    assert page.inner_text("#up") == "52 of 52"
    assert page.errors == []


def by_keys(page, source: str, target: str) -> None:
    for place in (source, target):
        keys = {"stock": "d", "W": "w", "F": "f"}
        page.keyboard.press(keys.get(place.partition(":")[0]) or str(int(place[1:]) + 1))


def by_clicks(page, source: str, target: str) -> None:
    for place in (source, target):
        page.mouse.click(*middle(page, place))


@pytest.mark.slow
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
    from four_seasons_env.rendering.places import cards_at, ends

    def kind(move) -> str:
        source, target = ends(game, move)
        if not target.startswith("T"):
            return f"{source} to {target.partition(':')[0]}"
        return f"{source} to {'T' if cards_at(game, target) else 'space'}"

    game = Game(rules, deal)
    open_deal(page, rules, deal)
    ways = (drag, by_keys, by_clicks)
    while special and game.moves_played < 100:
        found = [move for move in game.legal_moves(distinct=True) if kind(move) in special]
        move = found[0] if found else advice.choose("heuristic", game)
        special = special - {kind(move)}
        source, target = ends(game, move)
        if not move.turns:
            ways[game.moves_played % len(ways)](page, source, target)
        elif game.moves_played % 2:
            page.keyboard.press("d")
        else:
            page.mouse.click(*middle(page, "stock"))
        game.play(move)
        wait_for(page, game.moves_played)
    assert not special
    assert page.errors == []


@pytest.mark.slow
def test_clicks_keys_undo_and_a_reload(page):
    open_deal(page, "four-seasons", 17)
    page.keyboard.press("d")
    wait_for(page, 1)
    page.locator('#board [data-at="T3"]').last.click()
    targets = page.locator("#board .target")
    assert targets.evaluate_all("all => all.map(each => each.dataset.at)") == ["T0"]
    page.locator('#board [data-at="T0"]').last.click()
    wait_for(page, 2)
    page.keyboard.press("5")
    page.keyboard.press("2")
    wait_for(page, 3)
    page.click("#undo")
    wait_for(page, 2)
    page.keyboard.press("r")
    wait_for(page, 3)
    drawing = page.inner_html("#board")
    page.reload()
    wait_for(page, 3)
    assert page.inner_html("#board").count('class="card') == drawing.count('class="card')
    assert "deal=17" in page.url
    page.click("#log summary")
    assert page.locator("#played li").all_inner_texts() == ["deal", "T3>T0", "T4>T1"]
    assert page.errors == []


@pytest.mark.slow
def test_keys_of_other_keyboards(page):
    alt, ctrl, cmd, shift = 1, 2, 4, 8
    steps = [  # key, code, modifiers, moves of the game afterwards
        *[
            ("\u0432", "KeyD", 0, 1),
            ("\u0412", "KeyD", shift, 2),
            ("\u0433", "KeyU", 0, 1),
        ],  # Russian
        *[("\u03b4", "KeyD", 0, 2)],  # Greek
        *[("'", "Digit4", 0, 2), ("&", "Digit1", 0, 3)],  # French: T3>T0
        *[("z", "KeyZ", ctrl, 2), ("Z", "KeyZ", ctrl | shift, 3), ("z", "KeyW", cmd, 2)],
        *[("y", "KeyY", ctrl, 3), ("\u044f", "KeyZ", ctrl, 2), ("\u044f", "KeyZ", cmd | shift, 3)],
        *[("e", "KeyD", 0, 3), ("d", "KeyH", 0, 4)],  # Dvorak
        *[("%", "Digit5", shift, 4), ("@", "Digit2", shift, 4)],  # English: T4>T1 is legal
        *[("d", "KeyD", ctrl, 4), ("z", "KeyZ", ctrl | alt, 4), ("u", "KeyU", 0, 3)],
    ]
    open_deal(page, "four-seasons", 17)
    device = page.context.new_cdp_session(page)
    for key, code, held, moves in steps:
        event = {"type": "rawKeyDown", "key": key, "code": code, "modifiers": held}
        device.send("Input.dispatchKeyEvent", event)
        wait_for(page, moves)
    page.wait_for_timeout(200)
    assert count(page) == moves
    page.focus("#deal")
    page.keyboard.press("Control+z")  # of the field
    page.wait_for_timeout(200)
    assert count(page) == moves
    assert page.errors == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1500])
@pytest.mark.parametrize(("deal", "place"), [(20_000, "T0"), (20_002, "T3"), (20_031, "T2")])
def test_a_double_click_moves_a_card_up(page, width, deal, place):
    page.set_viewport_size({"width": width, "height": 844})
    open_deal(page, "four-seasons", deal)
    page.mouse.dblclick(*middle(page, place))
    wait_for(page, 1)
    assert page.locator("#played li").all_text_contents() == [f"{place}>F"]
    assert page.errors == []


@pytest.mark.slow
def test_a_double_click_leaves_a_card_that_comes(page):
    open_deal(page, "four-seasons", 20_001)
    page.mouse.click(*middle(page, "T1"))
    page.mouse.click(*middle(page, "T4"))
    wait_for(page, 1)
    page.mouse.down(click_count=2)  # on the card from T1, which could go up
    page.mouse.up(click_count=2)
    page.wait_for_timeout(300)
    assert count(page) == 1


@pytest.mark.slow
def test_an_illegal_drop_goes_back(page):
    open_deal(page, "four-seasons", 17)
    before = page.locator("#board .card").evaluate_all(
        "all => all.map(each => [each.dataset.card, each.getAttribute('transform')])"
    )
    drag(page, "T3", "T1")
    page.wait_for_timeout(200)
    after = page.locator("#board .card").evaluate_all(
        "all => all.map(each => [each.dataset.card, each.getAttribute('transform')])"
    )
    assert after == before
    assert count(page) == 0


@pytest.mark.slow
def test_a_hint_the_chance_and_the_spoiler(page):
    open_deal(page, "four-seasons", 17)
    page.wait_for_selector("#hint:enabled", timeout=120_000)
    page.check("#show-chance")
    assert page.inner_text("#chance span")  # at once
    page.click("#hint")
    page.wait_for_selector("#values:not([hidden])", timeout=120_000)
    assert "planner plays: " in page.inner_text("#message")
    assert page.locator("#board .hinted").count() == 2
    assert page.locator("#values tbody tr").count() >= 3
    page.locator("#chance span", has_text=re.compile(r"^\d+%$")).wait_for()
    assert re.fullmatch(r"\d+%", page.inner_text("#chance span"))
    page.click("#spoiler summary")
    page.click("#verdict")
    page.get_by_text("this deal can still be won").wait_for(timeout=120_000)
    page.click("#watch")
    page.locator("#count", has_text=re.compile(r"^([3-9]|\d\d)$")).wait_for()
    page.click("#watch")
    assert page.errors == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1500])
def test_nothing_moves_while_the_page_loads(page, width):
    page.set_viewport_size({"width": width, "height": 844})
    waiting = []

    def hold(route) -> None:
        waiting.append(route)

    page.route("**/api/*", hold)

    def places() -> list[float]:
        boxes = [page.locator(each).bounding_box() for each in ("#board", ".tools", "#advice")]
        return [length for box in boxes for length in box.values()]

    def answer(name: str) -> None:
        while not any(name in route.request.url for route in waiting):
            page.wait_for_timeout(20)
        for route in [each for each in waiting if name in each.request.url]:
            waiting.remove(route)
            route.continue_()

    page.goto("/")
    page.get_by_text("Loading the game").wait_for()
    page.get_by_text("Loading the agents").wait_for()
    assert page.is_disabled("#hint") and page.is_visible("#hint")
    before = places()
    for name in ("rules", "start", "sessions"):
        answer(name)
    page.wait_for_selector("#board svg")
    assert page.is_disabled("#hint")
    answer("advisers")
    page.wait_for_selector("#hint:enabled", timeout=120_000)
    assert places() == pytest.approx(before, abs=1)
    assert page.errors == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1500])
def test_new_games_and_the_way_back(page, width):
    page.set_viewport_size({"width": width, "height": 844})
    page.goto("/")
    page.wait_for_selector("#board svg")
    drawing = page.inner_html("#board")
    assert page.input_value("#deal") == "deck"
    page.fill("#deal", "17")
    page.click("#new button:not([type])")
    page.wait_for_url("**deal=17")
    assert page.inner_html("#board") == drawing
    page.keyboard.press("d")
    wait_for(page, 1)
    page.select_option("#rules", "czarina-1898")
    page.check("#winnable")
    page.click("#any")
    page.wait_for_function("location.search.startsWith('?rules=czarina-1898&deal=')")
    assert page.input_value("#deal") == page.url.rpartition("=")[2]
    assert "once" in page.inner_text("#how")
    page.click("#spoiler summary")
    page.click("#verdict")
    page.get_by_text("this deal can still be won").wait_for(timeout=120_000)
    page.go_back()
    wait_for(page, 1)
    assert page.input_value("#rules") == "four-seasons"
    page.keyboard.press("d")
    wait_for(page, 2)
    page.click("#restart")
    wait_for(page, 0)
    assert page.is_disabled("#restart")
    page.keyboard.press("r")
    wait_for(page, 1)
    page.reload()
    wait_for(page, 1)
    page.go_back()
    wait_for(page, 0)
    assert page.input_value("#deal") == "deck"
    page.go_forward()
    wait_for(page, 1)
    assert page.is_enabled("#redo")
    page.select_option("#rules", "corners")  # the solver loses every deal
    page.click("#any")
    page.get_by_text("could win none of 30 deals").wait_for()
    wait_for(page, 1)
    assert page.errors == []


@pytest.mark.slow
def test_a_browser_counts_its_deals(page):
    moves = [move.text for move in solve(Game(deal=17), seconds=30).moves]

    def expect_count(text: str) -> None:
        page.get_by_text(f"Deals won on this browser: {text}", exact=True).wait_for()

    for damaged in ("{", "5", "null", '"text"', '["?"]'):
        page.goto("/")
        page.evaluate("text => { localStorage['four-seasons-games'] = text; }", damaged)
    open_deal(page, "four-seasons", 18)
    expect_count("0 of 0")
    page.keyboard.press("d")
    expect_count("0 of 1")
    page.keyboard.press("d")
    page.keyboard.press("u")
    page.goto("/")
    stored = {"four-seasons-game?rules=four-seasons&deal=17": json.dumps(moves[:-1])}
    page.evaluate("stored => Object.assign(sessionStorage, stored)", stored)
    open_deal(page, "four-seasons", 17)
    expect_count("0 of 1")
    page.click("#step", timeout=120_000)  # an agent's win
    page.locator("#message", has_text="Won in").wait_for()
    expect_count("0 of 1")
    page.reload()
    for _ in range(2):
        wait_for(page, len(moves))
        page.keyboard.press("u")
        wait_for(page, len(moves) - 1)
        page.keyboard.press("a")
    expect_count("1 of 2")
    assert page.errors == []


@pytest.mark.slow
def test_a_proxy_may_add_a_path(page, server):
    def proxy(route) -> None:
        asked = route.request.url.removeprefix(f"{server}proxy/8888/")
        if asked == route.request.url:
            route.fulfill(status=404)
        else:
            route.fulfill(response=route.fetch(url=server + asked))

    page.route("**/*", proxy)
    page.goto("/proxy/8888/")
    page.wait_for_selector("#board svg")
    page.keyboard.press("d")
    wait_for(page, 1)
    assert page.url == f"{server}proxy/8888/?rules=four-seasons&deal=deck"
    page.wait_for_selector("#hint:enabled", timeout=120_000)
    page.reload()
    wait_for(page, 1)
    assert page.errors == []


@pytest.mark.slow
def test_rows_and_tools_on_a_phone(page):
    page.set_viewport_size({"width": 390, "height": 844})
    open_deal(page, "four-seasons", 17)
    boxes = [
        page.locator(f'#board [data-at="{place}"]').last.bounding_box() for place in ("T0", "T2")
    ]
    gap = boxes[1]["y"] - boxes[0]["y"] - boxes[0]["height"]
    assert 0 < gap < boxes[0]["height"] / 2
    board, tools = (page.locator(each).bounding_box() for each in ("#board", ".tools"))
    assert tools["y"] - board["y"] - board["height"] == pytest.approx(0, abs=10)
    assert tools["y"] + tools["height"] < 844


@pytest.mark.slow
def test_a_phone_fits_and_obeys_keys(page):
    page.set_viewport_size({"width": 390, "height": 844})
    for rules in [*RULES, "czarina(piles=4)"]:
        open_deal(page, rules, 17)
        assert page.input_value("#rules") == rules
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    open_deal(page, "four-seasons", 17)
    labels = page.locator("#board [tabindex]").evaluate_all(
        "all => all.map(each => each.getAttribute('aria-label'))"
    )
    assert len(labels) == 5 + 4 + 2
    assert "stock, 46 cards" in labels
    assert "foundation of hearts, empty, starts with 7" in labels
    page.locator('#board [aria-label^="stock"]').focus()
    page.keyboard.press("Enter")
    wait_for(page, 1)
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "stock, 45 cards"
    assert page.errors == []


@pytest.mark.slow
def test_a_forgotten_game_is_set_up_again(page):
    open_deal(page, "four-seasons", 17)
    page.keyboard.press("d")
    wait_for(page, 1)
    page.route("**/api/sessions/*", lambda route: route.fulfill(status=404, json={}))
    page.reload()
    wait_for(page, 1)


ANY = {"rules": "four-seasons", "deal": None}
BLOCKED = """for (const name of ["localStorage", "sessionStorage"])
    Object.defineProperty(window, name, { get() { throw new DOMException("denied"); } });"""
FULL = """Storage.prototype.setItem = () => { throw new DOMException("exceeded the quota"); };"""
DAMAGED = """for (const store of [localStorage, sessionStorage])
    for (const name of ["game", "game?rules=four-seasons&deal=17", "ids"])
        store["four-seasons-" + name] = store.theme = `%s`;"""
VALUES = ["", "{", "null", "5", "[]", '["fly"]', '{"?rules=four-seasons&deal=17": "x/hint"}']
GAMES = [{"moves": ["fly"]}, {"moves": 5}, {"deal": 17}, {"deal": {}, "moves": []}]
VALUES += [json.dumps({"rules": "four-seasons", "deal": "17"} | each) for each in GAMES]


@pytest.mark.slow
@pytest.mark.parametrize("script", [BLOCKED, FULL, *(DAMAGED % text for text in VALUES)])
def test_play_needs_no_storage(page, script):
    page.add_init_script(script)
    page.route("**/api/start", lambda route: route.fulfill(json=ANY))
    for address in ("/", "/?rules=four-seasons&deal=17"):
        page.goto(address)
        page.wait_for_selector("#board svg")
        page.keyboard.press("d")
        wait_for(page, 1)
    page.click("#theme")
    assert page.get_attribute("html", "data-theme") == "dark"
    page.click("#hint", timeout=120_000)
    page.get_by_text("planner plays").wait_for()
    assert [error for error in page.errors if "status of 40" not in error] == []


@pytest.mark.slow
def test_a_tab_keeps_its_own_game(page):
    def deal_cards(tab, deal: int, moves: int) -> None:
        open_deal(tab, "four-seasons", deal)
        for number in range(1, moves + 1):
            tab.keyboard.press("d")
            wait_for(tab, number)

    deal_cards(page, 17, 1)
    other = page.context.new_page()
    deal_cards(other, 18, 2)
    page.reload()
    wait_for(page, 1)
    deal_cards(other, 17, 3)
    page.reload()
    wait_for(page, 1)
    page.keyboard.press("u")
    wait_for(page, 0)
    other.reload()
    wait_for(other, 3)
    with page.context.expect_page() as opened:
        other.evaluate("open(location)")  # a copy of the tab
    wait_for(opened.value, 3)
    opened.value.keyboard.press("u")
    wait_for(opened.value, 2)
    other.reload()
    wait_for(other, 3)
    other.keyboard.press("u")
    wait_for(other, 2)
    other.reload()
    wait_for(other, 2)
    assert other.is_enabled("#redo")  # the server's game, not one set up again
    last = page.context.new_page()
    last.route("**/api/start", lambda route: route.fulfill(json=ANY))
    last.goto("/")
    wait_for(last, 2)  # the last game, where nothing names a deal
    assert page.errors == []
