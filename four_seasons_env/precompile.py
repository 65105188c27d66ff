"""Compile the environments ahead of time: `python -m four_seasons_env.precompile`.

This is optional: each function is compiled at its first call, and cached. The Makefile does it
while other packages are being installed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from four_seasons_env.next_deal import FourSeasonsNextDealVectorEnv
from four_seasons_env.vector import FourSeasonsVectorEnv


def main(_: Sequence[str] | None = None) -> None:
    """Take a step in each vector environment, the next-deal one first."""
    for kind in (FourSeasonsNextDealVectorEnv, FourSeasonsVectorEnv):
        env = kind(1)
        _, infos = env.reset(seed=0)
        env.step(infos["action_mask"].argmax(axis=1).astype(np.int64))


if __name__ == "__main__":
    main()
