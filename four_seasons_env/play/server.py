"""The server of the page: a Starlette application that plays moves and draws positions.

Requests, and their answers:

- GET ``/``, ``/page/...``: the page
- GET ``/api/start``: the rule set and the deal (or null) to open first, and the rule sets known
- GET ``/api/advisers?rules=``: the agents that can play a rule set here, and whether the chance of
  winning is known for it
- POST ``/api/sessions``: ``{rules, deal, moves, history}``: a new game; deal "deck": the flag's;
  history: a view's, after these moves
- GET ``/api/sessions/ID``: the game
- POST ``/api/sessions/ID/move``: ``{move, agent}``, with an agent's name if it plays the move; also
  ``undo``, ``redo``, ``finish``, ``restart``
- GET ``/api/sessions/ID/why``: ``?from=&to=``: why no card goes from a place to another
- GET ``/api/sessions/ID/hint``: ``?agent=``: its move, or null and the reason in words; and the
  planner's value of each move to a new position
- GET ``/api/sessions/ID/chance``: the chance of winning, as the planner estimates it
- GET ``/api/sessions/ID/verdict``: a spoiler: what the solver says of the true deal

The answer for a game is `session.session_view`; ``?unseen=1`` and ``?compact=1`` are its arguments.
The answer for an error is ``{error}`` with its status. Only requests with a JSON body change a
game. Browsers do not let pages of other origins send those.
"""

from __future__ import annotations

import json
import re
import secrets
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.base import (
    BaseHTTPMiddleware,
    DispatchFunction,
    RequestResponseEndpoint,
)
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from four_seasons_env.play import advice
from four_seasons_env.play.session import Keep, Session, session_view
from four_seasons_env.play.words import (
    did_words,
    move_words,
    table_words,
    unseen_words,
    why_not,
)
from four_seasons_env.rendering.layout import ends
from four_seasons_env.rules import RULES, Rules, get_rules

PAGE = Path(__file__).with_name("page")
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")

LOST_GAME = "This game is lost: no moves from here win it. Take moves back, or start a new game."
NOTHING_NEW = (
    "Nothing new can be reached: every move leads back to an earlier position of this game. Take "
    "moves back."
)

MOST_GAMES = 1000
"""Games that a server keeps, the newest. A page sends an older one again."""

_thinking = Lock()
"""Held while an agent thinks: agents write into buffers that all requests share."""


async def _body(request: Request) -> dict[str, Any]:
    """A request's JSON object."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise ValueError("the content type must be application/json")
    try:
        body = json.loads(await request.body() or b"{}")
    except (ValueError, RecursionError):
        raise ValueError("the request must be JSON") from None
    if not isinstance(body, dict):
        raise ValueError(f"the request must be a JSON object, not {type(body).__name__}")
    return body


def _field(body: dict[str, Any], name: str, kind: type, default: Any = None) -> Any:
    value = body.get(name, default)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"{name} must be a {kind.__name__}, not {type(value).__name__}")
    return value


def _new_session(body: dict[str, Any], keep: Keep | None, first: int | str | None) -> Session:
    deal, moves = body.get("deal", 0), _field(body, "moves", list, [])
    if deal == "deck":
        if not isinstance(first, str):
            raise ValueError("this server has no cards for the deal 'deck': start it with --deck")
        deal = first
    elif isinstance(deal, str) and deal.isascii() and deal.isdigit() and len(deal) < 1000:
        deal = int(deal)  # the page sends text, because JavaScript's numbers end at 2^53
    elif isinstance(deal, bool) or not isinstance(deal, int):
        raise ValueError(f"deal must be a number, not {str(deal)[:40]!r}")
    rules, history = _field(body, "rules", str, "four-seasons"), _field(body, "history", dict, {})
    return Session(rules, deal, moves, history, keep=keep)


class Application:
    """The handlers of one server and its games.

    Handlers run in one thread, so games need no lock. Only agents and the solver run in others, on
    copies of a game.
    """

    def __init__(
        self, keep: Keep | None, start: tuple[Rules, int | str | None], agent: str
    ) -> None:
        self._sessions: dict[str, Session] = {}
        self._start = start
        self._keep = keep
        self._agent = agent

    def routes(self) -> list[Route | Mount]:
        """The routes of the server."""
        session = "/api/sessions/{name}"
        return [
            Route("/", self.page),
            Route("/api/start", self.start),
            Route("/api/advisers", self.advisers),
            Route("/api/sessions", self.create, methods=["POST"]),
            Route(session, self.show),
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
        return JSONResponse(
            {
                "agents": await _think(advice.advisers, rules, self._agent),
                "chance": await _think(advice.can_judge, rules),
            }
        )

    # --- games

    def _session(self, request: Request) -> Session:
        name = request.path_params["name"]
        if name not in self._sessions:
            raise HTTPException(404, "this server has no such game")
        return self._sessions[name]

    def _answer(self, request: Request, name: str, status: int = 200, said: str = "") -> Response:
        how = {each: request.query_params.get(each) == "1" for each in ("unseen", "compact")}
        session = self._sessions[name]
        view = {"id": name, "said": said, "table": table_words(session.game)}
        if how["unseen"]:
            view["unseen"] = unseen_words(session.game)
        return JSONResponse(view | session_view(session, **how), status)

    async def create(self, request: Request) -> Response:
        """Start a game."""
        session = _new_session(await _body(request), self._keep, self._start[1])
        name = secrets.token_urlsafe(12)
        self._sessions[name] = session
        if len(self._sessions) > MOST_GAMES:
            del self._sessions[next(iter(self._sessions))]
        return self._answer(request, name, 201)

    async def show(self, request: Request) -> Response:
        """A game in its present position."""
        self._session(request)
        return self._answer(request, request.path_params["name"])

    async def change(self, request: Request) -> Response:
        """Play a move, undo, redo, finish or restart."""
        what = request.url.path.rpartition("/")[2]
        body = await _body(request)
        session = self._session(request)
        before, played = session.game, [*session.played]
        if what == "move":
            session.play(_field(body, "move", str), bool(_field(body, "agent", str, "")))
        else:
            getattr(session, what)()
        if session.unsaved:
            print(f"four_seasons_env: {session.unsaved}", file=sys.stderr, flush=True)
        last = max(played, session.played, key=len)[-1:]
        said = did_words(what, before, last[0] if last else None, session.game)
        return self._answer(request, request.path_params["name"], said=said)

    async def why(self, request: Request) -> Response:
        """Why no card goes from a place to another, or anywhere."""
        places = [request.query_params.get(each, "") for each in ("from", "to")]
        return JSONResponse({"why": why_not(self._session(request).game, *places)})

    # --- advice

    async def hint(self, request: Request) -> Response:
        """An agent's move, and the value of each move."""
        agent, session = request.query_params.get("agent", ""), self._session(request)
        shown, game = session.game, session.game.copy()
        past = [(step.before, step.move) for step in session.steps]
        move = await _think(advice.choose, agent, game, past, own=self._agent)
        lost = await _think(advice.is_lost, game)
        if lost or move is None:
            words = LOST_GAME if lost else NOTHING_NEW
            return JSONResponse({"agent": agent, "move": None, "words": words, "alternatives": []})
        values = await _think(advice.values, game)
        if session.game is shown:
            session.note_advice()
        source, target = ends(game, move)
        names = {each.text: move_words(game, each) for each in advice.new_moves(game, past)}
        alternatives = [
            {"move": text, "words": names[text], "value": round(value, 4)}
            for text, value in values.items()
            if text in names
        ]
        # Among equals the agent's move is first.
        alternatives.sort(key=lambda each: (-each["value"], each["move"] != move.text))
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


def _advise(ask: Callable[..., Any], *args: Any, **how: Any) -> Any:
    """Ask an adviser after those who have asked before."""
    with _thinking:
        return ask(*args, **how)


async def _think(ask: Callable[..., Any], *args: Any, **how: Any) -> Any:
    """Ask an adviser in another thread, so that the server can answer other requests."""
    return await run_in_threadpool(_advise, ask, *args, **how)


def compile_ahead() -> None:
    """Compile what the page needs, once on a machine, before somebody waits for it.

    The compiled code is the same for all rule sets.
    """
    session = Session("four-seasons", 0)
    session.finish()
    session_view(session)
    for agent in _advise(advice.advisers, session.game.rules)[:1]:
        _advise(advice.choose, agent, session.game)
        _advise(advice.values, session.game)
    _advise(advice.verdict, session.game)


def _refuse(request: Request, error: Exception) -> Response:
    if isinstance(error, RuntimeError):  # of an agent, whose author needs more
        traceback.print_exception(error)
    if isinstance(error, HTTPException):
        return JSONResponse({"error": error.detail}, error.status_code, error.headers)
    return JSONResponse({"error": str(error)}, 400)


def _for_hosts(hosts: Sequence[str]) -> DispatchFunction:
    """Refuse requests for other hosts, with the remedy."""

    known = [host.lower() for host in hosts]

    async def dispatch(request: Request, answer: RequestResponseEndpoint) -> Response:
        given = request.headers.get("host", "")
        parsed = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[\w.-]+)(:\d+)?", given)
        if "*" in known or (parsed and parsed[1].lower() in known):
            response = await answer(request)
            # Browsers ask for every file again: after an upgrade an old script would not work.
            response.headers["cache-control"] = "no-cache"
            return response
        name = parsed[1] if parsed else given[:80]
        error = (
            f"this server does not answer to the name {name!r}: if the name is yours, start it "
            f"with --allow-host {name}; other names are refused, because a web page could point "
            "its own name at this machine (DNS rebinding)"
        )
        return JSONResponse({"error": error}, 400)

    return dispatch


def make_app(
    hosts: Sequence[str] = LOOPBACK,
    keep: Keep | None = None,
    start: tuple[Rules, int | str | None] = (RULES["four-seasons"], None),
    agent: str = "",
) -> Starlette:
    """The application.

    Args:
        hosts: names under which it may be reached (the ``Host`` of requests); "*" for any. This
            protects a server on loopback from pages whose DNS name points at loopback.
        keep: called with each session whose game ends.
        start: the rule set and the deal to open first: a number, a deck's text, or None for any.
        agent: name of another agent that gives hints, such as "my_module:MyAgent".
    """
    return Starlette(
        routes=Application(keep, start, agent).routes(),
        middleware=[Middleware(BaseHTTPMiddleware, dispatch=_for_hosts(hosts))],
        exception_handlers=dict.fromkeys((ValueError, RuntimeError, HTTPException), _refuse),
    )
