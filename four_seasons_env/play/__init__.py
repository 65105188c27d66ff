"""A game played by people: in the browser, by a small server, or on a terminal.

- `session`: one game with undo, redo and times; `words` tells it in words.
- `server`: the application, `guard` what it refuses, `store` the games that it keeps, `view` what
  it shows of them; `page` is what the browser loads.
- `advice`: what agents and the solver say, where they are installed.
- `terminal`: the same with the keyboard alone.
- `records`: games kept as JSON lines.
"""
