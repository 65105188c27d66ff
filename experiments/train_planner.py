"""The old name of `experiments.train --agent planner`, for one release."""

from experiments.command_line import run_renamed

if __name__ == "__main__":
    run_renamed("train", "--agent", "planner")
