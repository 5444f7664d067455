"""Calls the Python functions that scenarios use as models.

The scenario stores the text of each function, and Weft executes this text. Weft never imports the functions from a
module, because the hash of a point depends only on the stored text. If a call fails or returns a wrong result, a
`ScenarioError` names the call, and the line in the user's file.
"""

from __future__ import annotations

import ast
import ctypes
import importlib.util
import inspect
import linecache
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from weft.errors import ScenarioError
from weft.scenario.installed import are_installed, is_installed
from weft.scenario.python_models import PythonModel
from weft.text.meant import meant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FrameType

# Maximum time of one call [s].
MOST_SECONDS = 10.0
# Maximum time for executing a file [s]. This time is longer than that for a call, because imports can be slow.
MOST_SECONDS_OF_FILE = 60.0
# Time between two checks of the running calls by the watching thread [s].
_LOOK_SECONDS = 0.5
# Maximum number of values that a generator can yield.
_MOST_VALUES = 100_000
# Number of sources or packets for which a function is called a second time, in another order, to check that it returns
# the same results.
AGAIN = 64
# Maximum number of characters of a line that an error message prints.
_MOST_SHOWN = 60


class TooLongError(BaseException):
    """Raised in a call that takes too long. An `except Exception` in the code of the user does not catch this error."""


class Patience:
    """Interrupts Python calls that take too long: a watching thread raises `TooLongError` in the thread of the call."""

    def __init__(self) -> None:
        self._ends: dict[int, float] = {}  # by thread, the time until which its call must end
        self._watcher: threading.Thread | None = None
        self._starting = threading.Lock()

    def call(self, seconds: float, function: Callable[..., Any], *positional: Any, **named: Any) -> Any:
        """Call a function, and interrupt it after `seconds` seconds."""
        self._start()
        thread = threading.get_ident()
        self._ends[thread] = time.monotonic() + seconds
        try:
            return function(*positional, **named)
        finally:
            self._ends.pop(thread, None)

    def _start(self) -> None:
        """Start the watching thread unless it already runs.

        A forked process does not have the thread of its parent, and starts its own.
        """
        if self._watcher is None or not self._watcher.is_alive():
            with self._starting:
                if self._watcher is None or not self._watcher.is_alive():
                    self._watcher = threading.Thread(target=self._watch, daemon=True)
                    self._watcher.start()

    def _watch(self) -> None:
        while True:
            time.sleep(_LOOK_SECONDS)
            now = time.monotonic()
            for thread, end in self._ends.copy().items():
                if now > end and self._ends.get(thread) == end:
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(TooLongError))


# The object that watches all calls in this process.
_PATIENCE = Patience()


class Place(NamedTuple):
    """The function to call: text and name of its file, its name, and the family of its model (pattern or routing)."""

    text: bytes
    file: str
    name: str
    family: str


class UserFunction:
    """A function in a file of the user, which a scenario uses as a model.

    Attributes
    ----------
    file, name : str
        Name of the file, and name of the function.
    function : callable
        The function itself.
    fixed : dict
        Arguments that are equal in all calls.
    takes : set of str
        Names of those parameters of the function whose arguments differ from call to call.
    """

    def __init__(self, place: Place, given: Mapping[str, Any], known: Mapping[str, Any], varying: set[str]) -> None:
        self.file, self.name = place.file, place.name
        self._source = f"<{self.file}>"
        self.function: Any = None  # until the file has been executed
        found = self._executed(place.text)
        if isinstance(found, PythonModel):
            if found.family != place.family:
                what = f"`{self.name}` of {self.file} is a {found.family}, but this key needs a {place.family}"
                raise ScenarioError.saying(what, f"write @weft.{place.family} above the definition of a function")
            given = dict(found.parameters) | dict(given)
            found = found.function
        self.function = found
        self.fixed, self.takes = self._arguments(given, known, varying)

    def call(self, words: Callable[[], str], arguments: Mapping[str, Any]) -> Any:
        """Call the function and return its result; a generator is converted to a list.

        `words` is a function that returns a description of the call, for an error.

        Raises
        ------
        ScenarioError
            If the call raises an exception, or takes too long.
        """
        try:
            return _PATIENCE.call(MOST_SECONDS, self._result, arguments)
        except KeyboardInterrupt:
            raise
        except BaseException as problem:
            raise self.raised(problem, words(), MOST_SECONDS) from problem

    def _result(self, arguments: Mapping[str, Any]) -> Any:
        result = self.function(**arguments)
        if not isinstance(result, Iterator):
            return result
        values = list(islice(result, _MOST_VALUES + 1))
        if len(values) > _MOST_VALUES:
            raise ValueError(f"more than {_MOST_VALUES} values in one result")
        return values

    def _executed(self, text: bytes) -> Any:
        try:
            lines = text.decode().splitlines(keepends=True)
        except UnicodeDecodeError as problem:
            raise ScenarioError.saying(f"{self.file} is not UTF-8 text", "save it as UTF-8") from problem
        linecache.cache[self._source] = (len(text), None, lines, self._source)
        module = ModuleType(f"weft_function_{self.file.removesuffix('.py')}_{zlib.crc32(text):08x}")
        sys.modules[module.__name__] = module  # dataclasses look up their module there
        try:
            self._refuse_local(ast.parse(text))
            code = compile(text, self._source, "exec", dont_inherit=True)
            _PATIENCE.call(MOST_SECONDS_OF_FILE, exec, code, module.__dict__)
        except (KeyboardInterrupt, ScenarioError):
            raise
        except SyntaxError as problem:
            place = f"line {problem.lineno}: `{(problem.text or '').strip()}`"
            raise ScenarioError.saying(f"{self.file}, {place}: {problem.msg}", "correct the line") from problem
        except BaseException as problem:
            raise self.raised(problem, f"{self.file}, when it is executed,", MOST_SECONDS_OF_FILE) from problem
        if not callable(found := module.__dict__.get(self.name)):
            names = [name for name, value in module.__dict__.items() if callable(value) and name[0] != "_"]
            help = meant(self.name, names, f"its functions: {', '.join(names) or 'none'}")
            raise ScenarioError.saying(f"{self.file} has no function `{self.name}`", help)
        return found

    def _refuse_local(self, tree: ast.Module) -> None:
        """Refuse imports of other files of the user, even inside functions.

        The hash of a point would not depend on the content of these files.
        """
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                modules = [each.name for each in node.names]
            elif isinstance(node, ast.ImportFrom):
                modules = ["." * node.level + (node.module or "")]
            else:
                continue
            for module in modules:
                if _is_local(module):
                    what = f"{self._place(node.lineno)}: {module} is a file that the results do not store"
                    raise ScenarioError.saying(what, f"copy its used parts to {self.file}, or install it as a package")

    def _arguments(
        self, given: Mapping[str, Any], known: Mapping[str, Any], varying: set[str]
    ) -> tuple[dict[str, Any], set[str]]:
        """The arguments that are equal in all calls, and the names of varying arguments that the function takes."""
        parameters = inspect.signature(self.function).parameters
        takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
        own = {
            name for name, each in parameters.items() if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
        }
        offered = ", ".join([*sorted(varying), *known])
        for name in given:
            if name in known or name in varying:
                help = f"rename this parameter: Weft itself passes {offered}"
                raise ScenarioError.saying(f"`parameters` has `{name}`, which Weft itself passes", help)
            if name not in own and not takes_any:
                what = f"`{self.name}` of {self.file} has no parameter `{name}`"
                raise ScenarioError.saying(what, meant(name, sorted(own), f"its parameters: {', '.join(parameters)}"))
        for name, each in parameters.items():
            if each.kind is each.POSITIONAL_ONLY:
                what = f"`{name}` of `{self.name}` in {self.file} is a positional-only parameter"
                raise ScenarioError.saying(what, "remove the `/`: Weft passes arguments by their names")
            needed = each.default is each.empty and each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
            if needed and name not in given and name not in known and name not in varying:
                what = f"`{self.name}` of {self.file} has the parameter `{name}`, but no value is given"
                help = f"write it under `parameters`, or rename it: Weft itself passes {offered}"
                raise ScenarioError.saying(what, help)
        fixed = dict(given) | {name: value for name, value in known.items() if name in own}
        return fixed, varying & own

    def line(self, problem: BaseException) -> str:
        """Text for an error: the last line of the user's file in the traceback of an exception."""
        place = problem.__traceback__
        number = None
        while place is not None:
            if place.tb_frame.f_code.co_filename == self._source:
                number = place.tb_lineno
            place = place.tb_next
        return self._place(number or self._first_line())

    def _first_line(self) -> int:
        code = getattr(self.function, "__code__", None)
        return code.co_firstlineno if isinstance(code, CodeType) else 1

    def _place(self, number: int) -> str:
        text = linecache.getline(self._source, number).strip()
        return f"{self.file}, line {number}: `{text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 3] + '...'}`"

    def returned(self, again: Callable[[], Any]) -> str:
        """The line at which the function returns; `again` repeats the call to find this line."""
        lines: list[int] = []
        code = getattr(self.function, "__code__", None)

        def trace(frame: FrameType, event: str, _: Any) -> Any:
            if frame.f_code is not code:
                return None
            if event == "return":
                lines.append(frame.f_lineno)
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            with suppress(ScenarioError):
                again()
        finally:
            sys.settrace(before)
        return self._place(lines[-1] if lines else self._first_line())

    def raised(self, problem: BaseException, call: str, seconds: float) -> ScenarioError:
        """The error for a call that raised an exception. The allowed time of the call was `seconds`."""
        if isinstance(problem, TooLongError):
            what = f"{call} did not return within {seconds:g} s ({self.line(problem)})"
            return ScenarioError.saying(what, "end its loop or make it faster: Weft calls it for each of many cases")
        words = f"{type(problem).__name__}: {problem}".removesuffix(": ")
        what = f"{call} raised {words} ({self.line(problem)})"
        return ScenarioError.saying(what, "correct the function; to test it, call it in Python with the same arguments")


def unequal(function: UserFunction, case: str) -> ScenarioError:
    """The error for a function that returns different results for equal arguments."""
    what = f"`{function.name}` of {function.file} returns a different result when it is called again for {case}"
    help = "use only the arguments for the result; draw random numbers with the argument `rng` of a pattern"
    return ScenarioError.saying(what, help)


def brief(value: Any) -> str:
    """A value as short text for a message."""
    try:
        text = repr(value)
    except Exception:  # fails for integers of more than 4300 digits, or in a user's class
        return f"a {type(value).__name__} that can't be written"
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."


def _is_local(name: str) -> bool:
    """Whether an imported module is a file of the user. The result is false for a module that is not found."""
    if name.startswith("."):
        return True
    top = name.partition(".")[0]
    if module := sys.modules.get(top):
        return not is_installed(module)
    spec = importlib.util.find_spec(top)
    if spec is None:
        return False
    return not are_installed(top, [spec.origin] if spec.origin else spec.submodule_search_locations or ())
