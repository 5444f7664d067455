"""Makes functions accept renamed parameters under their old names.

An old name is accepted for one minor version, with a `DeprecationWarning`.
"""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")


def renamed(**names: str) -> Callable[[Callable[Parameters, Answer]], Callable[Parameters, Answer]]:
    """Make a function also accept keyword arguments under their old names.

    Parameters
    ----------
    **names : str
        The renamed parameters, as ``old="new"``. Type checkers know only the new names.
    """

    def wrap(function: Callable[Parameters, Answer]) -> Callable[Parameters, Answer]:
        @functools.wraps(function)
        def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Answer:
            for old in names.keys() & kwargs.keys():
                new = names[old]
                if new in kwargs:
                    raise TypeError(f"{function.__name__}() got {old}= and {new}=, which are the same: remove {old}=")
                what = f"the parameter {old}= of {function.__name__} is now called {new}="
                warnings.warn(what, DeprecationWarning, stacklevel=2)
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call

    return wrap
