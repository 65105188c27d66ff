"""The server of the page: a Starlette application that plays moves and draws positions.

Requests, and their answers:

- GET ``/``, ``/page/...``: the page
- GET ``/api/start``: the rule set and the deal (or null) to open first, and the rule sets known
- GET ``/api/advisers?rules=``: the agents that can play a rule set here, and whether the chance of
  winning is known for it
- POST ``/api/sessions``: a new game (`NewGame`)
- GET ``/api/sessions/ID``: the game
- POST ``/api/sessions/ID/move`` (`Change`); also ``undo``, ``redo``, ``finish``, ``restart``
- POST ``/api/sessions/ID/leave``: the player opens another game: a lost one is recorded
- GET ``/api/sessions/ID/why``: ``?from=&to=``: why no card goes from a place to another
- GET ``/api/sessions/ID/hint``: ``?agent=``: its move, or null and the reason in words; and the
  planner's value of each move to a new position
- GET ``/api/sessions/ID/chance``: the chance of winning, as the planner estimates it
- GET ``/api/sessions/ID/verdict``: a spoiler: what the solver says of the true deal

The answer for a game is `session.session_view`; ``?unseen=1`` and ``?compact=1`` are its arguments.
The answer for an error is ``{error}`` with its status.
"""

from __future__ import annotations

import functools
import re
import secrets
import sys
import traceback
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from anyio import CapacityLimiter, create_task_group
from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from four_seasons_env.game import Game
from four_seasons_env.play import advice
from four_seasons_env.play.session import History, Save, Session, session_view
from four_seasons_env.play.words import did_words, move_words, why_not
from four_seasons_env.rendering.layout import ends
from four_seasons_env.rules import RULES, Rules, get_rules

PAGE = Path(__file__).with_name("page")
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")

LOST_GAME = "This position is lost: no sequence of moves wins. Undo, or start a new game."
NOTHING_NEW = (
    "Nothing new can be reached: every move leads back to an earlier position of this game. Undo "
    "some moves."
)

MAX_GAMES = 1000
"""Games in memory, the newest. A page sends an older one again."""
MAX_KEPT = 100_000
"""Moves of the games in memory, about 50 MB; the oldest games go first."""
MAX_BODY = 1_000_000
"""Bytes in the body of a request. The longest game has about 100,000."""

HEADERS = {
    # Browsers ask for every file again: after an upgrade an old script would not work.
    "cache-control": "no-cache",
    # The page is made of files of this server; nothing runs or styles it from within a text.
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    # No other page shows it in a frame and takes clicks for it; old browsers know only this one.
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
}
"""Headers of every answer."""

_thinking, _replaying = CapacityLimiter(1), CapacityLimiter(1)
"""One agent thinks at a time, because agents write into buffers that all requests share, and one
game is replayed. Requests that wait hold none of the threads that read files."""

under_way: list[str] = []
"""What requests wait for at present, in words."""


@contextmanager
def _waiting_for(what: str) -> Iterator[None]:
    under_way.append(what)
    try:
        yield
    finally:
        under_way.remove(what)


class NewGame(msgspec.Struct):
    """The body of a request for a new game."""

    rules: str = "four-seasons"
    deal: int | str = 0
    """A number, also as text: JavaScript's numbers end at 2^53. "deck": the cards of `--deck`."""
    moves: list[str] = []
    history: History = History()


class Change(msgspec.Struct):
    """The body of a request that changes a game; it is empty unless it plays a move."""

    move: str = ""
    agent: str = ""
    """The name of the agent that plays it, if one does."""


Body = TypeVar("Body", NewGame, Change)


async def _body(request: Request, form: type[Body]) -> Body:
    """The JSON body of a request.

    Raises:
        HTTPException: if it is too long.
        ValueError: if it is not JSON of this form. Browsers let pages of other origins send text,
            but not JSON: so they cannot change a game.
    """
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise ValueError("the content type must be application/json")
    body = bytearray()
    with _waiting_for("an upload"):
        async for part in request.stream():
            body += part
            if len(body) > MAX_BODY:
                raise HTTPException(413, f"a request must have at most {MAX_BODY:,} bytes")
    try:
        return msgspec.json.decode(body or b"{}", type=form)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the request must be JSON as the page sends it: {error}") from None


class Application:
    """The handlers of one server and its games.

    Handlers run in one thread, so games need no lock. In others, agents and the solver run on
    copies of a game, and games are replayed that no request knows yet.
    """

    def __init__(
        self, save: Save | None, start: tuple[Rules, int | str | None], agent: str
    ) -> None:
        self._sessions: dict[str, Session] = {}
        self._start, self._save, self._agent = start, save, agent

    def routes(self) -> list[Route | Mount]:
        """The routes of the server."""
        session = "/api/sessions/{name}"
        return [
            Route("/", self.page),
            Route("/api/start", self.start),
            Route("/api/advisers", self.advisers),
            Route("/api/sessions", self.create, methods=["POST"]),
            Route(session, self.show),
            Route(session + "/leave", self.leave, methods=["POST"]),
            Route(session + "/why", self.why),
            Route(session + "/hint", self.hint),
            Route(session + "/chance", self.chance),
            Route(session + "/verdict", self.verdict),
            *(
                Route(f"{session}/{name}", self.change, methods=["POST"], name=name)
                for name in ("move", "undo", "redo", "finish", "restart")
            ),
            Mount("/page", StaticFiles(directory=PAGE)),
        ]

    # --- the page and its choices

    async def page(self, request: Request) -> Response:
        """The page itself."""
        return FileResponse(PAGE / "index.html")

    async def start(self, request: Request) -> Response:
        """The game of the command line; the deal is text: JavaScript's numbers end at 2^53."""
        rules, deal = self._start
        name = "deck" if isinstance(deal, str) else None if deal is None else str(deal)
        known = [*dict.fromkeys((rules.name, *RULES))]
        return JSONResponse({"rules": rules.name, "deal": name, "known": known})

    async def advisers(self, request: Request) -> Response:
        """The agents that can play a rule set here."""
        rules = get_rules(request.query_params.get("rules", "four-seasons"))
        agents = await _think(advice.advisers, rules, self._agent)
        return JSONResponse({"agents": agents, "chance": await _think(advice.can_judge, rules)})

    # --- games

    def _session(self, request: Request) -> Session:
        name = request.path_params["name"]
        if name not in self._sessions:
            raise HTTPException(404, "this server has no such game")
        return self._sessions[name]

    def _answer(self, request: Request, name: str, status: int = 200, said: str = "") -> Response:
        flags = {each: request.query_params.get(each) == "1" for each in ("unseen", "compact")}
        view = session_view(self._sessions[name], **flags)
        if request.method == "POST" and view["unsaved"]:
            print(f"four_seasons_env: {view['unsaved']}", file=sys.stderr, flush=True)
        return JSONResponse({"id": name, "said": said} | view, status)

    async def create(self, request: Request) -> Response:
        """Start a game."""
        body = await _body(request, NewGame)
        start = functools.partial(Session, body.rules, self._deal(body.deal), save=self._save)
        with _waiting_for("a long game"):
            session = await run_sync(start, body.moves, body.history, limiter=_replaying)
        name = secrets.token_urlsafe(12)  # nobody can guess it, so nobody plays in another's game
        self._sessions[name] = session
        kept = sum(each.kept for each in self._sessions.values())
        while len(self._sessions) > MAX_GAMES or kept > MAX_KEPT:
            kept -= self._sessions.pop(next(iter(self._sessions))).kept
        return self._answer(request, name, 201)

    def _deal(self, deal: int | str) -> int | str:
        """The number of a deal, or the text of this server's deck."""
        if deal == "deck":
            if not isinstance(self._start[1], str):
                raise ValueError("this server has no deck: start it with --deck")
            return self._start[1]
        try:
            return int(deal)
        except ValueError:
            raise ValueError(f"deal must be a number, not {deal!r:.40}") from None

    async def show(self, request: Request) -> Response:
        """A game in its present position."""
        self._session(request)
        return self._answer(request, request.path_params["name"])

    async def change(self, request: Request) -> Response:
        """Play a move, undo, redo, finish or restart."""
        change = request.url.path.rpartition("/")[2]
        body = await _body(request, Change)
        session = self._session(request)
        before, played = session.game, session.played
        if change == "move":
            session.play(body.move, by_agent=bool(body.agent))
        else:
            getattr(session, change)()
        # The move that was played or taken back is the last one of the longer game.
        last = max(played, session.played, key=len)[-1:]
        said = did_words(change, before, last[0] if last else None, session.game)
        return self._answer(request, request.path_params["name"], said=said)

    async def leave(self, request: Request) -> Response:
        """Record the game if it is lost: many lost games have moves left, and so never end."""
        await _body(request, Change)
        session = self._session(request)
        if self._save and session.steps and await _think(advice.is_lost, session.game.copy()):
            session.save()
        return self._answer(request, request.path_params["name"])

    async def why(self, request: Request) -> Response:
        """Why no card goes from a place to another; without a target, anywhere."""
        places = [request.query_params.get(each, "") for each in ("from", "to")]
        return JSONResponse({"why": why_not(self._session(request).game, *places)})

    # --- advice

    async def hint(self, request: Request) -> Response:
        """An agent's move, and the value of each move; or why there is none."""
        agent, session = request.query_params.get("agent", ""), self._session(request)
        game, past = session.game.copy(), [(step.before, step.move) for step in session.steps]
        # 1. Is there anything to play for?
        move = await _think(advice.choose, agent, game, past, custom=self._agent)
        lost = await _think(advice.is_lost, game)
        if lost or move is None:
            words = LOST_GAME if lost else NOTHING_NEW
            return JSONResponse({"agent": agent, "move": None, "words": words, "alternatives": []})
        # 2. The value of each move to a new position, the best first; of equals the agent's move.
        values = await _think(advice.values, game)
        new = await _think(advice.new_moves, game, past)
        names = {each.text: move_words(game, each) for each in new}
        alternatives = [
            {"move": text, "words": names[text], "value": round(value, 4)}
            for text, value in values.items()
            if text in names
        ]
        alternatives.sort(key=lambda each: (-each["value"], each["move"] != move.text))
        source, target = ends(game, move)
        return JSONResponse(
            {
                "agent": agent,
                "move": move.text,
                "words": move_words(game, move),
                "from": source,
                "to": target,
                "alternatives": alternatives,
            }
        )

    async def chance(self, request: Request) -> Response:
        """The chance of winning."""
        chance = await _think(advice.chance, self._session(request).game.copy())
        return JSONResponse({"chance": None if chance is None else round(chance, 4)})

    async def verdict(self, request: Request) -> Response:
        """Whether the true deal can still be won."""
        verdict = await _think(advice.verdict, self._session(request).game.copy())
        return JSONResponse({"verdict": verdict})


async def _in_turn(ask: Callable[..., Any], *args: Any, **how: Any) -> Any:
    """Ask an adviser in another thread, after those who have asked before."""
    call = functools.partial(ask, *args, **how)
    # A server that ends does not wait for the thread.
    return await run_sync(call, limiter=_thinking, abandon_on_cancel=True)


async def _think(ask: Callable[..., Any], *args: Any, **how: Any) -> Any:
    """Ask an adviser for a request, while the server can answer others."""
    with _waiting_for("advice"):
        return await _in_turn(ask, *args, **how)


def _first_view() -> Game:
    session = Session("four-seasons", 0)
    session.finish()
    session_view(session)
    return session.game


async def compile_ahead() -> None:
    """Compile what the page needs, once on a machine, before somebody waits for it."""
    # The compiled code is the same for all rule sets, so any game will do.
    game = await run_sync(_first_view, abandon_on_cancel=True)
    for agent in (await _in_turn(advice.advisers, game.rules))[:1]:
        await _in_turn(advice.choose, agent, game)
        await _in_turn(advice.values, game)
    await _in_turn(advice.verdict, game)


@asynccontextmanager
async def _compiling(app: Starlette) -> AsyncIterator[None]:
    """`compile_ahead` while the application runs."""
    async with create_task_group() as tasks:
        tasks.start_soon(compile_ahead)
        yield
        tasks.cancel_scope.cancel()


def _refuse(request: Request, error: Exception) -> Response:
    """The answer for an error: its message; the author of an agent needs the traceback, too."""
    if isinstance(error, RuntimeError):
        traceback.print_exception(error)
    if isinstance(error, HTTPException):
        return JSONResponse({"error": error.detail}, error.status_code, error.headers)
    return JSONResponse({"error": str(error)}, 400)


def _left(request: Request, error: Exception) -> Response:
    """The answer for a browser that has gone: one line says so, where uvicorn logs a traceback."""
    print("four_seasons_env: an upload broke off", file=sys.stderr, flush=True)
    return Response(status_code=400)


class Guard:
    """Middleware around all of an application: refuses other hosts, and adds `HEADERS` to answers.

    Args:
        app: the application.
        hosts: the names that it answers to; "*" for any.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str]) -> None:
        self._app, self._hosts = app, {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        answer = self._refusal(Headers(scope=scope)) if scope["type"] == "http" else None
        await (answer or self._app)(scope, receive, send_safely)

    def _refusal(self, headers: Headers) -> Response | None:
        """The answer for a host with another name, with the remedy."""
        # DNS rebinding: a page of evil.example may make its name point at 127.0.0.1. The browser
        # then takes this server for that page's own, but still sends the name, as the host.
        given = headers.get("host", "")  # such as localhost:8752 or [::1]:8752
        parsed = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[\w.-]+)(:\d+)?", given)
        if "*" in self._hosts or (parsed and parsed[1].lower() in self._hosts):
            return None
        name = parsed[1] if parsed else given[:80]
        error = (
            f"this server does not answer to the name {name!r}: if the name is yours, start it "
            f"with --allow-host {name}; other names are refused, because a web page could point "
            "its own name at this machine (DNS rebinding)"
        )
        return JSONResponse({"error": error}, 400)


def make_app(
    hosts: Sequence[str] = LOOPBACK,
    save: Save | None = None,
    start: tuple[Rules, int | str | None] = (RULES["four-seasons"], None),
    agent: str = "",
) -> ASGIApp:
    """The application.

    Args:
        hosts: names under which it may be reached (the ``Host`` of requests); "*" for any. This
            protects a server on loopback from pages whose DNS name points at loopback.
        save: called with each session whose game is finished.
        start: the rule set and the deal to open first: a number, a deck's text, or None for any.
        agent: name of another agent that gives hints, such as "my_module:MyAgent".
    """
    app = Starlette(
        routes=Application(save, start, agent).routes(),
        exception_handlers={
            **dict.fromkeys((ValueError, RuntimeError, HTTPException), _refuse),
            ClientDisconnect: _left,
        },
        lifespan=_compiling,
    )
    return Guard(app, hosts)
