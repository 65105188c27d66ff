"""Four Seasons in verifiers: `load_environment()`, or a taskset of its command line.

The command line finds a taskset by the name of a module, here `four_seasons_text.py` with the line
`from four_seasons_env.adapters.verifiers import *` in the folder where it runs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf

from four_seasons_env.engine.deals import parse_deals
from four_seasons_env.text.env import FourSeasonsTextEnv

TASKSET = "four_seasons_text"

__all__ = [
    "FourSeasonsConfig",
    "FourSeasonsEnv",
    "FourSeasonsEnvConfig",
    "FourSeasonsTask",
    "FourSeasonsTaskset",
    "load_environment",
]


class FourSeasonsConfig(vf.TasksetConfig):
    """The deals to play, and the arguments of `FourSeasonsTextEnv`."""

    deals: str = "10000-10199"
    rules: str = "four-seasons"
    unit: str = "move"
    choices: int = 8
    tries: int = 3
    max_moves: int = 500


class FourSeasonsData(vf.TaskData):
    """A deal, and the arguments of `FourSeasonsTextEnv`."""

    deal: int
    arguments: dict[str, Any]


class FourSeasonsTask(vf.Task[FourSeasonsData]):
    """One game."""


class FourSeasonsTaskset(vf.Taskset[FourSeasonsTask, FourSeasonsConfig]):
    """A task for each deal."""

    def load(self) -> Iterator[FourSeasonsTask]:
        """The tasks, in the order of the deals."""
        config = self.config
        names = ("rules", "unit", "choices", "tries", "max_moves")
        arguments = {name: getattr(config, name) for name in names}
        instructions = FourSeasonsTextEnv(**arguments).instructions
        for deal in parse_deals(config.deals):
            data = FourSeasonsData(
                name=f"{config.rules}#{deal}",
                system_prompt=instructions,
                deal=deal,
                arguments=arguments,
            )
            yield FourSeasonsTask(data, config.task)


class FourSeasonsEnvConfig(vf.EnvConfig):
    """The configuration of `FourSeasonsEnv`: who plays."""

    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"}, runtime={"type": "subprocess"})


class FourSeasonsEnv(vf.Env[FourSeasonsEnvConfig]):
    """The environment's messages are the user's, the player's replies the assistant's."""

    async def run(self, task: FourSeasonsTask, agents: vf.Agents) -> None:
        """Play one game; the reward is the sum of the rewards of `FourSeasonsTextEnv`."""
        env = FourSeasonsTextEnv(**task.data.arguments)
        _, info = env.reset(options={"deal": task.data.deal})
        total, done = 0.0, False
        async with agents.player.interaction(task) as interaction:
            while not done:
                segment = await interaction.turn(env.message)
                if segment.terminated:
                    break
                _, reward, terminated, truncated, info = env.step(segment.last_reply)
                total, done = total + reward, terminated or truncated
        interaction.trace.record_reward("four_seasons", total)
        interaction.trace.record_metrics({"won": info["won"], "cards_up": info["cards_up"]})


def load_environment(**arguments: Any) -> FourSeasonsEnv:
    """The environment; the arguments are the fields of `FourSeasonsConfig`."""
    sys.modules.setdefault(TASKSET, sys.modules[__name__])
    return FourSeasonsEnv(FourSeasonsEnvConfig(taskset={"id": TASKSET, **arguments}))
