"""What arguments have in common: which values are whole numbers, and how others are refused."""

from __future__ import annotations

from typing import Any

import numpy as np


def whole_number(what: str, value: Any) -> int:
    """An argument that is a whole number, of Python or of NumPy; True and False are none.

    Args:
        what: the argument, for the message: "a deal".
        value: its value.

    Raises:
        TypeError: for anything else, an array with one element included: it may have been meant for
            several games.
    """
    if isinstance(value, np.ndarray):
        if value.ndim:
            hint = ": take its one element with .item()" if value.size == 1 else ""
            raise TypeError(f"{what} is an integer, not an array of shape {value.shape}{hint}")
        value = value[()]
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{what} is an integer, not {value!r}: did you mean {int(value)}?")
    try:
        return int(value.__index__())
    except (AttributeError, TypeError):
        raise TypeError(f"{what} is an integer, not {value!r}") from None
