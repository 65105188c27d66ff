"""Play the game in the browser, with a small server.

- `session`: one game with undo, redo and times, and its view as JSON.
- `words`: what the page says: rules, moves, cards, reasons.
- `command`: `four-seasons play`, its flags and its address.
- `server`: the application; `page` is loaded by the browser.
- `advice`: hints by agents and the solver's verdict.
"""
