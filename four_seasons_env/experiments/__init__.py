"""The experiments. In a clone they are those of its folder `experiments`; in a wheel, here."""

from four_seasons_env.clone import hand_on

hand_on("experiments")
