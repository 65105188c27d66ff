"""Which optional extra of the package installs a module."""

from __future__ import annotations

_MODULES = {
    "agents": ("msgspec", "safetensors"),
    "play": ("rich", "starlette", "uvicorn"),
    "render": ("moviepy", "pygame"),
    "solver": ("pysat",),
    "train": ("sb3_contrib", "stable_baselines3", "tensorboard", "torch", "yaml"),
    "experiments": ("joblib", "matplotlib", "pandas", "scipy", "tyro"),
    "dask": ("dask", "distributed"),
    "ray": ("ray",),
}


def missing_extra(what: str, error: ModuleNotFoundError, extra: str | None = None) -> ImportError:
    """Explain a module that is not installed.

    Args:
        what: needs the module; the subject of the message.
        error: the failed import.
        extra: the extra to name; by default, the one that installs the module.

    Returns:
        An error whose message names the extra to install; ``error`` itself if the module belongs to
        no extra.
    """
    module = (error.name or "").partition(".")[0]
    homes = [name for name, modules in _MODULES.items() if module in modules]
    if not homes:
        return error
    extra = extra or homes[0]
    return ImportError(
        f"{what} needs the extra \"{extra}\": pip install 'four-seasons-env[{extra}]'"
    )
