"""Episodes over the engine: reset and step for a batch of games, also for those of `next_deal`."""
