"""`OwnLayers`: a policy of sb3-contrib with layers of its own."""

from __future__ import annotations

from typing import Any

from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy


class OwnLayers(MaskableActorCriticPolicy):
    """Refuses the arguments of sb3-contrib's policies that would have no effect on its layers.

    Raises:
        TypeError: for such an argument.
    """

    unused = frozenset(("net_arch", "activation_fn"))
    remedy: str
    """How the layers are chosen instead, for the error."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        for name in sorted(kwargs.keys() & self.unused):
            raise TypeError(f"{type(self).__name__} has no {name!r}: {self.remedy}")
        super().__init__(*args, **kwargs)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        every = super()._get_constructor_parameters()
        return {name: each for name, each in every.items() if name not in self.unused}

    def _make_optimizer(self, lr_schedule: Any) -> None:
        """Make the optimiser of all weights; `optimizer_class` is an argument of the policy."""
        self.optimizer = self.optimizer_class(
            self.parameters(),
            lr=lr_schedule(1),  # type: ignore[call-arg]
            **self.optimizer_kwargs,
        )
