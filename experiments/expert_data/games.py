"""Play an agent in the next-deal environment, and note every decision."""

from __future__ import annotations

from typing import Any

import numpy as np

from four_seasons_env.agents.learned.candidates.teaching import choice_of
from four_seasons_env.agents.registry import Agent
from four_seasons_env.experiments.matches.verdicts import judge
from four_seasons_env.next_deal import FourSeasonsNextDealVectorEnv


def play_game(
    agent: Agent, env: FourSeasonsNextDealVectorEnv, deal: int, seed: int = 0, solve: int = 0
) -> list[dict[str, Any]]:
    """Play a deal, and return a row for each decision.

    Args:
        agent: the player; sees reshuffled stocks. If it has a method `values`, that gives the
            values of candidates.
        env: of one game, with `autoreset_mode="NextStep"`.
        deal: its number.
        seed: of the agent's chance and of the reshuffles.
        solve: positions that the solver may expand for its verdicts on the game; 0 for none.

    Returns:
        The rows, with the columns of `four_seasons_env.experiments.expert_data.columns`.
    """
    rng = np.random.default_rng([seed, deal])
    values_of = getattr(agent, "values", None)
    observations, infos = env.reset(options={"deal": deal})
    rows: list[dict[str, Any]] = []
    games = list(env.call("game"))
    done = not infos["action_mask"].any()
    while not done:
        mask = infos["action_mask"][0]
        offered = observations["observation"][0, : mask.sum()]
        values = values_of(offered) if values_of else None
        action = int(choice_of(agent, env, rng)[0])
        own = action >= 0
        if not own:
            action = 0 if values is None else int(values.argmax())
        row = {"deal": deal, "step": len(rows), "observation": offered, "action_mask": mask}
        row |= {"action": action, "own": own, "value": values, "verdict": None}
        observations, rewards, terminated, truncated, infos = env.step(np.array([action]))
        games += env.call("game")
        row |= {"reward": rewards[0], "terminated": terminated[0], "truncated": truncated[0]}
        rows.append(row)
        done = terminated[0] or truncated[0]
    verdicts = judge(games, in_all=solve, seconds=np.inf).statuses if solve else [None] * len(games)
    for row, verdict in zip(rows, verdicts, strict=False):  # the last position is no decision
        row |= {"won": infos["won"][0], "verdict": verdict}
    return rows
