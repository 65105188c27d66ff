"""The optional extras of the package, and the one that a missing module belongs to."""

from __future__ import annotations

_AGENTS = ("msgspec", "safetensors")
_MODULES = {
    "agents": _AGENTS,
    "play": (*_AGENTS, "anyio", "starlette", "uvicorn"),
    "render": ("moviepy", "pygame"),
    "solver": ("pysat",),
    "train": (*_AGENTS, "sb3_contrib", "stable_baselines3", "tensorboard", "torch", "yaml"),
    "experiments": (
        *(*_AGENTS, "filelock", "jinja2", "joblib"),
        *("matplotlib", "pandas", "rich", "scipy", "tyro"),
    ),
    "dask": ("dask", "distributed"),
    "ray": ("ray",),
}
"""The optional extras of the package, and the modules that each installs."""


def missing_extra(what: str, error: ModuleNotFoundError, extras: str = "") -> ImportError:
    """Explain a module that is not installed.

    Args:
        what: needs the module; the subject of the message.
        error: the failed import.
        extras: what it is known to need, separated by commas; named if they install the module.

    Returns:
        An error whose message names the extra to install; ``error`` itself if the module belongs to
        no extra.
    """
    module = (error.name or "").partition(".")[0]
    homes = [name for name, modules in _MODULES.items() if module in modules]
    if not homes:
        return error
    extra = extras if set(homes) & set(extras.split(",")) else homes[0]
    return ImportError(
        f"{what} needs the extra \"{extra}\": pip install 'four-seasons-env[{extra}]'"
    )
