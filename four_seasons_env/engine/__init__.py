"""The engine: cards, deals, moves and the rules, compiled. Everything else calls it."""
