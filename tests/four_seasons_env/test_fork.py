"""A process forked from one whose environment plays in threads can continue."""

import os

import pytest

from tests.helpers import run_python

FORKED = """
import os, sys
from four_seasons_env.next_deal import FourSeasonsNextDealVectorEnv
from four_seasons_env.vector import FourSeasonsVectorEnv
from tests.helpers import random_steps, same

kind = {"moves": FourSeasonsVectorEnv, "positions": FourSeasonsNextDealVectorEnv}[sys.argv[1]]
env, twin = kind(6, num_threads=3), kind(6)
for each in (env, twin):
    each.reset(seed=5)
    random_steps(each, 3)
child = os.fork()
went_well = same(random_steps(env, 20), random_steps(twin, 20))
env.close()
if not child:
    os._exit(0 if went_well else 3)
_, status = os.waitpid(child, 0)
print(went_well, os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("kind", ["moves", "positions"])
def test_parent_and_child_play_on(kind):
    printed = run_python("-W", "ignore::DeprecationWarning", "-c", FORKED, kind)
    assert printed == "True 0\n"
