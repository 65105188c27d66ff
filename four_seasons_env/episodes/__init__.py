"""Episodes over the engine: reset and step for a batch of games whose actions are moves."""
