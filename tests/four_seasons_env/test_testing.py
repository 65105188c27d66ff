"""`check_masked_env` finds each kind of fault; in test_contract.py it passes what is right."""

from __future__ import annotations

import copy

import gymnasium as gym
import numpy as np
import pytest

from four_seasons_env import FourSeasonsEnv
from four_seasons_env.testing import check_masked_env
from tests.helpers import run_python


class Faulty(FourSeasonsEnv):
    """An environment that breaks one promise."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault = fault
        self.count = 0

    def _info(self):
        info = super()._info()
        mask = info["action_mask"]
        if self.fault == "shape":
            info["action_mask"] = mask[:-1]
        elif self.fault == "dtype":
            info["action_mask"] = mask.astype(np.int64)
        elif self.fault == "illegal allowed":
            mask[np.argmin(mask)] = 1
        elif self.fault == "legal forbidden" and mask.sum() > 1:
            mask[np.argmax(mask)] = 0
        elif self.fault == "none":
            mask[:] = 0
        return info

    def action_masks(self):
        if self.fault == "method":
            return np.ones_like(super().action_masks())
        return self._info()["action_mask"].astype(bool)

    def _observation(self):
        seen = super()._observation()
        if self.fault == "peeks":
            seen[0] = self._batch.games[0]["deck"][self._batch.games[0]["dealt"]] / 52
        if self.fault == "time":
            self.count += 1
            seen[0] = self.count % 7 / 7
        return seen

    def __deepcopy__(self, memo):
        if self.fault == "shared":
            return self
        twin = Faulty.__new__(Faulty)
        vars(twin).update(copy.deepcopy(vars(self), memo))
        return twin


def test_promises_are_checked_without_asserts() -> None:
    check = "check_masked_env(Faulty('dtype'))"
    code = f"from tests.four_seasons_env.test_testing import *; {check}"
    assert "AssertionError: step 0: the mask is int64" in run_python("-O", "-c", code, status=1)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("shape", "the mask has shape"),
        ("dtype", "the mask is int64"),
        ("illegal allowed", "is refused, but its mask is 1"),
        ("legal forbidden", "is accepted, but its mask is 0"),
        ("none", "no action is legal"),
        ("method", "differs from info"),
        ("peeks", "in another order"),
        ("time", "with the same seed, step"),
        ("shared", "step"),
    ],
)
def test_a_broken_promise_is_found(fault: str, said: str) -> None:
    with pytest.raises((AssertionError, gym.error.ResetNeeded), match=said):
        check_masked_env(Faulty(fault), steps=40)
