"""Play the game in the browser, with a small server.

- `session`: one game with undo, redo and times; `words` names its cards, places and moves.
- `server`: the application; `view` is what it shows of a game; `page` is what the browser loads.
- `advice`: hints by agents and the solver's verdict.
- `records`: games as JSON lines.
"""
