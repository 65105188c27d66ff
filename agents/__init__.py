"""Agents: players of the game behind one protocol, made by name.

>>> agent = make_agent("heuristic")
>>> actions = agent.act(games, masks, rng)
"""

from four_seasons_env.agents.registry import AGENTS, Agent, make_agent

__all__ = ["AGENTS", "Agent", "make_agent"]
