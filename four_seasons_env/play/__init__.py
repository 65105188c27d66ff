"""Play the game in the browser, with a small server.

- `session`: one game with undo, redo and times; `words` names its cards, places and moves.
- `server`: the application; `view` is the JSON of a game; `page` is loaded by the browser.
- `advice`: hints by agents and the solver's verdict.
"""
