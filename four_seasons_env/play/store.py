"""The games that a server keeps: so many, and then the one that has rested longest makes room."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from threading import RLock

from four_seasons_env.play.session import Session

MOST_SESSIONS = 500


class UnknownSession(KeyError):
    """A game that the server does not keep, or no longer."""


class Store:
    """Sessions by an identifier that cannot be guessed; `lock` is to be held while one is used."""

    def __init__(self, most: int = MOST_SESSIONS) -> None:
        self.lock = RLock()
        self._most = most
        self._sessions: OrderedDict[str, Session] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sessions)

    def add(self, session: Session) -> str:
        """Keep a session and return its identifier."""
        name = secrets.token_urlsafe(12)
        self._sessions[name] = session
        while len(self._sessions) > self._most:
            self._sessions.popitem(last=False)
        return name

    def __getitem__(self, name: str) -> Session:
        """A session by its identifier.

        Raises:
            UnknownSession: if there is none.
        """
        if name not in self._sessions:
            raise UnknownSession(name)
        self._sessions.move_to_end(name)
        return self._sessions[name]
