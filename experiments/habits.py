"""The old name of `experiments.disagreements`, for one release."""

from experiments.command_line import run_renamed

if __name__ == "__main__":
    run_renamed("disagreements")
