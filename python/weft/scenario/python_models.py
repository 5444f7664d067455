"""`weft.pattern`: a pattern that is a Python function, as an object that scenarios in Python may hold."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, overload

from weft.errors import ScenarioError
from weft.scenario.function_text import text_of


@dataclass(eq=False)
class PythonModel:
    """A model that is a Python function. It is called as the function is.

    Attributes
    ----------
    family : str
        ``pattern``.
    function : callable
        The function.
    parameters : dict
        Arguments by which Weft calls it, besides those that it always gives.
    """

    family: str
    function: Callable[..., Any]
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        functools.update_wrapper(self, self.function)

    def __call__(self, *positional: Any, **named: Any) -> Any:
        """What the function returns."""
        return self.function(*positional, **named)

    def written(self, files: dict[str, bytes]) -> dict[str, Any]:
        """The model in the shape of a scenario; its text is added to `files`."""
        text, name = text_of(self.function), self.function.__name__
        file, number = f"{name}.py", 2
        while files.setdefault(file, text) != text:
            file, number = f"{name}_{number}.py", number + 1
        parameters = {"parameters": dict(self.parameters)} if self.parameters else {}
        return {"python": {"function": f"{file}:{name}"} | parameters}


Maker = Callable[[Callable[..., Any]], PythonModel]


@overload
def pattern(function: Callable[..., Any], /, **parameters: Any) -> PythonModel: ...
@overload
def pattern(function: None = None, /, **parameters: Any) -> Maker: ...
def pattern(function: Callable[..., Any] | None = None, /, **parameters: Any) -> PythonModel | Maker:
    """Make a traffic pattern of a function; also a decorator.

    Parameters
    ----------
    function : callable
        ``destination(source, rng)``: the terminal to which `source` sends its next packet. It may also return ``None``
        (this packet is not sent), or a dict of terminals with their weights. It takes what it needs of ``source``,
        ``rng`` (a ``numpy.random.Generator``), ``terminals``, ``terminals_per_router``, ``widths`` and ``seed``, by
        these names.
    **parameters : value
        More arguments: texts, numbers, lists.

    Returns
    -------
    PythonModel
        For the key ``traffic.pattern`` of a scenario in Python.

    Notes
    -----
    The function is called before the run, once per source, or 1000 times if it takes ``rng``. The table of its results
    is what runs.

    Examples
    --------
    >>> @weft.pattern
    ... def half_way(source, terminals):
    ...     return (source + terminals // 2) % terminals
    >>> half_way(1, 8)
    5
    """
    return _made("pattern", function, parameters)


def _made(family: str, function: Callable[..., Any] | None, parameters: dict[str, Any]) -> PythonModel | Maker:
    if function is None:
        return lambda function: PythonModel(family, function, parameters)
    if isinstance(function, PythonModel):
        return PythonModel(family, function.function, dict(function.parameters) | parameters)
    given: object = function
    if not callable(given):
        what = f"a {family} is made of a {type(function).__name__}, which is no function"
        raise ScenarioError.saying(what, f"write @weft.{family} above the definition of a function")
    return PythonModel(family, function, parameters)


def plain(value: Any, files: dict[str, bytes]) -> Any:
    """A part of a scenario in which each function is the text that a file of a scenario has. Adds texts to `files`."""
    if isinstance(value, PythonModel):
        return value.written(files)
    if isinstance(value, Mapping):
        return {key: plain(each, files) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each, files) for each in value]
    return value
