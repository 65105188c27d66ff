"""verifiers: a taskset of deals, and an environment in which a model plays them.

Copied into the folder where `vf-eval` or a trainer runs, this module is a taskset: its id is
`with_verifiers`. In Python, `load_environment(deals="10000-10199")` returns the environment.
"""

import sys

import verifiers.v1 as vf

from four_seasons_env.engine.deals import parse_deals
from four_seasons_env.text import FourSeasonsTextEnv

__all__ = ["DealTaskset", "FourSeasonsVerifiersEnv", "load_environment"]


class DealConfig(vf.TasksetConfig):
    """The deals to play, and arguments of `FourSeasonsTextEnv`."""

    deals: str = "10000-10199"
    rules: str = "four-seasons"
    unit: str = "position"


class DealData(vf.TaskData):
    """One deal."""

    deal: int
    arguments: dict[str, str]


class DealTask(vf.Task[DealData]):
    """One game."""


class DealTaskset(vf.Taskset[DealTask, DealConfig]):
    """A task for each deal; the rules and how to reply are the system prompt."""

    def load(self):
        """The tasks, in the order of the deals."""
        config = self.config
        arguments = {"rules": config.rules, "unit": config.unit}
        instructions = FourSeasonsTextEnv(**arguments).instructions
        for deal in parse_deals(config.deals):
            name = f"{config.rules}#{deal}"
            data = DealData(name=name, system_prompt=instructions, deal=deal, arguments=arguments)
            yield DealTask(data, config.task)


class PlayerConfig(vf.EnvConfig):
    """The player: the harness without tools, which only sends and receives messages."""

    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"}, runtime={"type": "subprocess"})


class FourSeasonsVerifiersEnv(vf.Env[PlayerConfig]):
    """The game's messages are the user's, the model's replies the assistant's."""

    async def run(self, task, agents):
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


def load_environment(**arguments):
    """The environment; the arguments are the fields of `DealConfig`."""
    sys.modules.setdefault("with_verifiers", sys.modules[__name__])
    return FourSeasonsVerifiersEnv(PlayerConfig(taskset={"id": "with_verifiers", **arguments}))
