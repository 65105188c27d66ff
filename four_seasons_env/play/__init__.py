"""Play the game in the browser, with a small server.

- `session`: one game with undo, redo and times, its view as JSON and in words.
- `server`: the application; `page` is loaded by the browser.
- `advice`: hints by agents and the solver's verdict.
"""
