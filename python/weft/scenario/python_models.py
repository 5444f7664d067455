"""`weft.pattern` and `weft.routing` make models from Python functions, as objects for scenarios in Python."""

from __future__ import annotations

import ast
import functools
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

from weft.errors import ScenarioError, WeftWarning
from weft.scenario.function_text import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft._engine import Point


@dataclass(eq=False)
class PythonModel:
    """A model that is a Python function. Calling the object calls its function.

    Attributes
    ----------
    family : str
        ``pattern`` or ``routing``.
    function : callable
        The function that computes destinations or hops.
    parameters : dict
        Arguments that Weft passes to the function, in addition to those that every model of the family gets.
    """

    family: str
    function: Callable[..., Any]
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        functools.update_wrapper(self, self.function)

    def __call__(self, *positional: Any, **named: Any) -> Any:
        """Call the function and return its result."""
        return self.function(*positional, **named)

    def written(self, files: dict[str, bytes]) -> dict[str, Any]:
        """The model in the form that a scenario file has; the text of its function is added to `files`."""
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
    """Make a traffic pattern from a function. `pattern` can also be used as a decorator.

    Parameters
    ----------
    function : callable
        A function like ``destination(source, rng)``, which returns the terminal to which `source` sends its next
        packet. The function can also return ``None`` (this packet is not sent), or a dict of terminals with their
        weights. The function can have any of the parameters ``source``, ``rng`` (a ``numpy.random.Generator``),
        ``terminals``, ``terminals_per_router``, ``widths`` and ``seed``, with these names.
    **parameters : value
        Further arguments of the function: strings, numbers, lists.

    Returns
    -------
    PythonModel
        A value for the key ``traffic.pattern`` of a scenario in Python.

    Notes
    -----
    Weft calls the function before the run, once per source, or 1000 times per source if it takes ``rng``. The run uses
    the table of the returned destinations.

    Examples
    --------
    >>> @weft.pattern
    ... def half_way(source, terminals):
    ...     return (source + terminals // 2) % terminals
    >>> half_way(1, 8)
    5
    """
    return _made("pattern", function, parameters)


@overload
def routing(function: Callable[..., Any], /, **parameters: Any) -> PythonModel: ...
@overload
def routing(function: None = None, /, **parameters: Any) -> Maker: ...
def routing(function: Callable[..., Any] | None = None, /, **parameters: Any) -> PythonModel | Maker:
    """Make a routing from a function. `routing` can also be used as a decorator.

    Parameters
    ----------
    function : callable
        A function like ``next_hops(router, packet)``, which returns the hops that a packet may take at a router that is
        not its destination. A hop is a port, or a tuple of a port and a VC class. The function returns one hop or a
        list of hops. If the function has a third parameter ``queues`` (flits by port), it must return a dict of hops
        with their costs, and the packet takes the hop with the least cost. The function can also have a parameter
        ``network``. See `weft.scenario.python_network` for the attributes of ``router``, ``packet`` and ``network``.
    **parameters : value
        Further arguments of the function: strings, numbers, lists.

    Returns
    -------
    PythonModel
        A value for the key ``routing`` of a scenario in Python.

    Notes
    -----
    Without ``queues``, Weft calls the function before the run, once for each router, destination and VC class of the
    last hop. The run uses the table of the returned hops. With ``queues``, Weft also calls the function during the run,
    for each packet at each router. A run that calls the Python function is slow.

    Examples
    --------
    >>> @weft.routing
    ... def next_hops(router, packet):
    ...     return router.minimal_ports(packet.destination)
    """
    return _made("routing", function, parameters)


def _made(family: str, function: Callable[..., Any] | None, parameters: dict[str, Any]) -> PythonModel | Maker:
    if function is None:
        return lambda function: PythonModel(family, function, parameters)
    if isinstance(function, PythonModel):
        return PythonModel(family, function.function, dict(function.parameters) | parameters)
    given: object = function
    if not callable(given):
        what = f"a {family} needs a function, but got a {type(function).__name__}"
        raise ScenarioError.saying(what, f"write @weft.{family} above the definition of a function")
    return PythonModel(family, function, parameters)


def plain(value: Any, files: dict[str, bytes]) -> Any:
    """A part of a scenario in which functions are replaced by their form in a scenario file.

    The texts of the functions are added to `files`.
    """
    if isinstance(value, PythonModel):
        return value.written(files)
    if isinstance(value, Mapping):
        return {key: plain(each, files) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each, files) for each in value]
    return value


def warn_if_slow(points: Sequence[Point]) -> None:
    """Warn about a routing that calls a Python function while the network runs."""
    for point in points:
        routing = point.resolved["routing"]
        if isinstance(routing, dict) and "python" in routing:
            file, name = routing["python"]["function"].rsplit(":", 1)
            file = file.partition("#")[0]
            if _reads_queues(point.inputs[file], name):
                what = f"`{name}` of {file} reads queues, so Weft calls it per packet at each router: the run is slow"
                help = "more threads do not help; run several points at a time (`jobs`), or write the routing in Rust"
                warnings.warn(f"{what}, and {help}", WeftWarning, stacklevel=3)
                return


def _reads_queues(text: bytes, name: str) -> bool:
    """Whether the function of this name in a text has a parameter `queues`. The text is parsed and not executed."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return any(each.arg == "queues" for each in [*node.args.args, *node.args.kwonlyargs])
    return False
