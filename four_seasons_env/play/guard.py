"""What the server refuses before a request is looked at: bodies too large, pages of other origins.

A page that the user has open elsewhere could send requests to a server on loopback. Browsers say in
``Origin`` where a request comes from, and it has to be the server's own address. That the ``Host``
is ours (against DNS names that are pointed at loopback) is checked by Starlette's
`TrustedHostMiddleware`.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 64 * 1024
"""Of a request's body."""

HEADERS = {
    b"content-security-policy": b"default-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
    b"form-action 'none'",
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cache-control": b"no-cache",
}


class _TooLarge(Exception):
    """A body of more than `MOST_BYTES`."""


class Guard:
    """Middleware: refuses foreign origins and large bodies, and adds `HEADERS` to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *HEADERS.items()]
            await send(message)

        headers = dict(scope["headers"])
        refusal = _refusal(headers)
        if refusal:
            await refusal(scope, receive, send_guarded)
            return
        try:
            await self._app(scope, _limited(receive), send_guarded)
        except _TooLarge:
            await _too_large()(scope, receive, send_guarded)


def _refusal(headers: dict[bytes, bytes]) -> JSONResponse | None:
    origin = headers.get(b"origin")
    if origin is not None:
        host = headers.get(b"host", b"").decode("latin-1")
        if urlsplit(origin.decode("latin-1")).netloc != host:
            return JSONResponse({"error": "requests of other pages are refused"}, 403)
    length = headers.get(b"content-length", b"0")
    if not length.isdigit() or int(length) > MOST_BYTES:
        return _too_large()
    return None


def _too_large() -> JSONResponse:
    return JSONResponse({"error": f"a request may have {MOST_BYTES:,} bytes at most"}, 413)


def _limited(receive: Receive) -> Receive:
    """The same body, as long as it is not too large."""
    left = MOST_BYTES

    async def receive_some() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise _TooLarge
        return message

    return receive_some
