"""The agents. In a clone these are the modules of its folder `agents`; in a wheel they are here."""

from four_seasons_env.clone import hand_on

hand_on("agents")
