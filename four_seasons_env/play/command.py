"""Play in the browser: `four-seasons play`."""

from __future__ import annotations

import argparse
import errno
import ipaddress
import socket
import sys
import threading
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from four_seasons_env.agents import make_agent
from four_seasons_env.engine.deals import check_deal, deck_text, parse_deck
from four_seasons_env.files import expanded
from four_seasons_env.play.session import Save
from four_seasons_env.records import append_record, missing_break
from four_seasons_env.rules import Rules, get_rules

_ANY = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}
"""Addresses that mean all of this machine, and instead of each one that all browsers can open."""

_REFUSED_PORTS = frozenset([
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
    103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
    512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
    995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668,
    6669, 6679, 6697, 10080,
])  # fmt: skip
"""Ports that browsers do not open (https://fetch.spec.whatwg.org/#port-blocking)."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("four-seasons play", description=__doc__)
    parser.add_argument(
        "--rules",
        default="four-seasons",
        help="rule set, such as 'czarina(piles=4)' (default: %(default)s)",
    )
    parser.add_argument("--deal", type=int, help="number of the deal (default: any)")
    parser.add_argument("--deck", help="your own cards, first dealt first, such as '6D 10H Q♠ ...'")
    parser.add_argument(
        "--agent", default="", help="another agent to give hints, such as my_module:MyAgent"
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen on; 0.0.0.0 lets others open the page (default: %(default)s)",
    )
    parser.add_argument(
        "--allow-host",
        metavar="NAME",
        nargs="+",
        default=[],
        help="other names for the page in a browser's address, as behind a forwarded port",
    )
    parser.add_argument(
        "--port", type=int, default=8752, help="port, or 0 for any free one (default: %(default)s)"
    )
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")
    parser.add_argument(
        "--record",
        type=expanded,
        help="file to which finished games are added, a line of JSON each; a lost game with moves "
        "left counts when you open another",
    )
    parser.add_argument("--player", default="", help="name of the player, for --record")
    return parser


def recorder(path: Path | None, player: str) -> Save | None:
    """A function that adds games that end to a file; None without a file.

    Raises:
        ValueError: if the file cannot be written or is damaged, with the reason.
    """
    if path is None:
        return None
    try:  # before a game is played that could not be recorded
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("a").close()
        missing_break(path)  # refuses a damaged file
    except OSError as error:
        raise ValueError(f"{error.filename}: {error.strerror}") from None
    return lambda session: append_record(path, session.record(player))


def _serve(
    start: tuple[Rules, int | str | None], options: argparse.Namespace, save: Save | None
) -> None:
    """Serve the page, which opens a rule set and a deal, until the process is stopped.

    Raises:
        ValueError: for an address that cannot be used.
        KeyboardInterrupt: after Ctrl-C.
    """
    import uvicorn

    from four_seasons_env.play.server import LOOPBACK, make_app, under_way

    # 1. Listen, before the browser asks; a port that is taken has a remedy.
    host, port = options.host, options.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen()  # uvicorn answers a little later
        except OSError as error:
            taken = error.errno in (errno.EADDRINUSE, errno.EACCES)
            remedy = "--port 0" if taken else "--host 127.0.0.1"
            raise ValueError(
                f"cannot listen on {host}:{port} ({error.strerror}): try {remedy}"
            ) from None
        # 2. Print an address that browsers can open, and open it.
        bound, port = listener.getsockname()[:2]
        name = _ANY.get(bound, f"[{host}]" if ":" in host else host)
        url = f"http://{name}:{port}/"
        print(f"four_seasons_env: play at {url} (Ctrl-C ends)", flush=True)
        if not ipaddress.ip_address(bound).is_loopback:
            address = "ADDRESS-OF-THIS-MACHINE" if bound in _ANY else name
            print(
                f"warning: {host} is open: everybody on the network can reach this server, at "
                f"http://{address}:{port}/; --host 127.0.0.1 keeps it to this machine",
                file=sys.stderr,
            )
        if not options.no_browser:
            # in a thread: a browser in the terminal would keep the server from its answer
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
        # 3. Serve, under these names only.
        hosts = ["*"] if bound in _ANY else [*LOOPBACK, name, *options.allow_host]
        config = uvicorn.Config(make_app(hosts, save, start, options.agent), log_level="warning")
        server, ended = uvicorn.Server(config), threading.Event()

        def serve() -> None:
            try:
                server.run([listener])
            finally:
                ended.set()

        # The main thread only waits, so that it hears Ctrl-C. The others are daemons, as are the
        # threads that they start: the process ends though an agent thinks.
        threading.Thread(target=serve, daemon=True).start()
        try:
            while not ended.wait(1):  # Windows hears Ctrl-C only between two waits
                pass
        finally:
            server.should_exit = True
            if not ended.wait(0.3):
                awaited = " and ".join(dict.fromkeys(under_way)) or "a browser"
                print(f"waiting for {awaited}, at most a second", flush=True)
                ended.wait(0.7)


def main(argv: Sequence[str] | None = None) -> None:
    """Read the flags and play.

    Raises:
        ValueError: for a wrong flag.
    """
    options = _parser().parse_args(argv)
    # Every flag is checked before anything is served.
    rules = get_rules(options.rules)
    deal = None if options.deal is None else check_deal(options.deal)
    deck = None if options.deck is None else deck_text(parse_deck(options.deck, rules.ranks))
    if deck and deal is not None:
        raise ValueError("give --deal or --deck, not both")
    if not options.host:  # would be all addresses
        raise ValueError("--host must be an address, such as 127.0.0.1, not ''")
    if not 0 <= options.port < 2**16:
        raise ValueError(f"--port must be 0 to 65535, not {options.port}")
    if options.port in _REFUSED_PORTS:
        ports = (port for port in range(1, 2**16) if port not in _REFUSED_PORTS)
        near = min(ports, key=lambda port: abs(port - options.port))
        raise ValueError(
            f"--port must be one that browsers open, such as {near}, not {options.port}"
        )
    if options.agent:
        make_agent(options.agent, rules)  # refuses a wrong name
    save = recorder(options.record, options.player)
    _serve((rules, deck or deal), options, save)
