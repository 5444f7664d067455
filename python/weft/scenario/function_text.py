"""Converts a Python function that exists in memory, with everything that it uses, to the text of a separate file.

The file holds the definition of the function, and the imports, constants and other functions that the function uses.
Weft executes the file when the scenario runs, in this process or in another, and stores the file with the results.
"""

from __future__ import annotations

import ast
import dis
import inspect
import textwrap
from itertools import accumulate
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from weft.errors import ScenarioError
from weft.scenario.installed import is_installed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_HEAD = "from __future__ import annotations\n"
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_GLOBALS")


def text_of(function: Callable[..., Any]) -> bytes:
    """Makes the text of a file that defines the function under its name.

    Raises
    ------
    ScenarioError
        If the text of the function is not known, or if the function uses an object that a file cannot store. The text
        is unknown if the function is not a `def`, or was typed at a prompt and not in a file.
    """
    file = _File()
    file.add(function.__name__, function)
    return "\n".join([_HEAD, *file.imports, *file.parts]).encode()


class _File:
    """The text of a file, to which `add` adds a function and the objects that the function uses."""

    def __init__(self) -> None:
        self.imports: list[str] = []
        self.parts: list[str] = []
        self.known: dict[str, Any] = {}

    def add(self, name: str, value: Any) -> None:
        """Add the definition of a name to the file, after the definitions of all names that its value uses."""
        value = getattr(value, "function", value) if type(value).__name__ == "PythonModel" else value
        if name in self.known:
            if self.known[name] is not value and self.known[name] != value:
                what = f"`{name}` has two different values in the functions of one model"
                raise ScenarioError.saying(what, "rename one of them")
            return
        self.known[name] = value
        if hasattr(value, "__wrapped__") and not is_installed(inspect.getmodule(value) or ModuleType("__main__")):
            what = f"`{name}` has a decorator, which is not part of its stored text"
            raise ScenarioError.saying(
                what, "remove the decorator, or write the function into a file: my_ideas.py:FUNCTION"
            )
        if isinstance(value, ModuleType):
            self._import(name, value, f"import {value.__name__} as {name}")
        elif isinstance(value, FunctionType) and not is_installed(inspect.getmodule(value) or ModuleType("__main__")):
            self._define(name, value)
        elif isinstance(value, type) or callable(value):
            self._refer(name, value)
        else:
            self.parts.append(f"{name} = {_constant(name, value)}\n")

    def _import(self, name: str, module: ModuleType, line: str) -> None:
        if not is_installed(module):
            raise _unfit(name, f"a part of {module.__name__}, a file that the results do not store")
        self.imports.append(line)

    def _refer(self, name: str, value: Any) -> None:
        """Add an import of a class or function of an installed package."""
        module = inspect.getmodule(value)
        own = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
        if module is None or own is None or "." in own or getattr(module, own, None) is not value:
            raise _unfit(name, f"a {type(value).__name__}")
        self._import(name, module, f"from {module.__name__} import {own} as {name}")

    def _define(self, name: str, function: FunctionType) -> None:
        text, node = _definition(name, function)
        if node.name != name:
            raise _unfit(name, f"the function `{node.name}` under another name")
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        for used in sorted({*_loaded(function.__code__)} - {name}):
            if used in cells:
                self.add(used, cells[used].cell_contents)
            elif used in function.__globals__:
                self.add(used, function.__globals__[used])
        self.parts.append(self._with_defaults(text, node, function))

    def _with_defaults(self, text: str, node: ast.FunctionDef, function: FunctionType) -> str:
        """The text of a definition, with the defaults that the function has now.

        A default in the text can be a name, whose value has possibly changed since the definition.
        """
        changes: list[tuple[ast.expr, str]] = []
        for name, place, value in _defaults(node.args, function):
            if callable(value) and isinstance(place, ast.Name):
                self.add(place.id, value)
            elif not _is_written(place, value):
                changes.append((place, _constant(name, value)))
        return _replaced(text, changes)


def _definition(name: str, function: FunctionType) -> tuple[str, ast.FunctionDef]:
    """The text of a function definition without decorators, and its syntax tree."""
    help = "write it into a file, and name it in the scenario: {python: {function: my_ideas.py:" + name + "}}"
    try:
        text = textwrap.dedent(inspect.getsource(function))
        node = ast.parse(text).body[0]
    except (OSError, TypeError, SyntaxError) as problem:
        raise ScenarioError.saying(f"the text of the function `{name}` is unknown", help) from problem
    if not isinstance(node, ast.FunctionDef):
        what = f"`{name}` is not defined by its own `def`"
        raise ScenarioError.saying(what, f"write def {name.strip('<>')}(...): return ...")
    text = "".join(text.splitlines(keepends=True)[node.lineno - 1 :])
    tree = ast.parse(text).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return text, tree


def _defaults(arguments: ast.arguments, function: FunctionType) -> Iterator[tuple[str, ast.expr, Any]]:
    """Name, expression in the syntax tree, and value of each default of a function's parameters."""
    by_place = [*arguments.posonlyargs, *arguments.args][-len(arguments.defaults) :] if arguments.defaults else []
    for argument, place, value in zip(by_place, arguments.defaults, function.__defaults__ or (), strict=True):
        yield argument.arg, place, value
    for argument, by_name in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if by_name is not None:
            yield argument.arg, by_name, (function.__kwdefaults__ or {})[argument.arg]


def _is_written(place: ast.expr, value: Any) -> bool:
    """Whether an expression in the text is a constant with this value."""
    try:
        return bool(ast.literal_eval(place) == value)
    except ValueError:
        return False


def _replaced(text: str, changes: list[tuple[ast.expr, str]]) -> str:
    """A text of Python code with some expressions replaced, edited as bytes, because syntax trees count bytes."""
    kept = text.encode()
    starts = [0, *accumulate(len(line) for line in kept.splitlines(keepends=True))]
    for place, new in reversed(changes):
        assert place.end_lineno is not None
        assert place.end_col_offset is not None
        start, end = starts[place.lineno - 1] + place.col_offset, starts[place.end_lineno - 1] + place.end_col_offset
        kept = kept[:start] + new.encode() + kept[end:]
    return kept.decode()


def _loaded(code: CodeType) -> Iterator[str]:
    """The global names that a code object, and the functions inside it, use."""
    own = set(code.co_varnames) | set(code.co_cellvars)
    for instruction in dis.get_instructions(code):
        if instruction.opname in _LOADS and isinstance(instruction.argval, str) and instruction.argval not in own:
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from (name for name in _loaded(constant) if name not in own)


def _constant(name: str, value: Any) -> str:
    """The text of an assignment that defines a constant."""
    text = repr(value)
    try:
        same = ast.literal_eval(text) == value
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        same = False
    if same is not True:
        raise _unfit(name, f"a {type(value).__name__}")
    return text


def _unfit(name: str, what: str) -> ScenarioError:
    help = "create it inside the function, pass it as a parameter, or write both into a file: my_ideas.py:FUNCTION"
    return ScenarioError.saying(f"the function uses `{name}`, {what}, which can't be stored with the function", help)
