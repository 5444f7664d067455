"""Calls the Python functions that scenarios name.

A function is executed from the text that the scenario holds, never imported: the hash of a point covers this text. What
goes wrong is one `ScenarioError` that names the call and the line of the user's file.
"""

from __future__ import annotations

import ctypes
import inspect
import linecache
import sys
import threading
import zlib
from contextlib import contextmanager
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from weft.errors import ScenarioError
from weft.scenario.installed import is_installed
from weft.text.meant import meant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import FrameType

# Longest time that one call may take [s].
MOST_SECONDS = 10.0
# Sources or packets for which a function is called a second time, in another order.
AGAIN = 64
# Characters of a line that a message shows.
_MOST_SHOWN = 60


class TooLongError(BaseException):
    """A call takes longer than `MOST_SECONDS`. No `except Exception` of the user stops it."""


class Patience:
    """Ends calls that never return: a thread raises `TooLongError` in the thread of the call."""

    def __init__(self) -> None:
        self.calls = 0
        self.inside: int | None = None  # thread of a call

    @contextmanager
    def watching(self) -> Iterator[Self]:
        """Watch the calls inside of the block."""
        over = self.watch()
        try:
            yield self
        finally:
            over.set()

    def watch(self) -> threading.Event:
        """Watch all calls until the event is set."""
        over = threading.Event()
        threading.Thread(target=self._watch, args=(over,), daemon=True).start()
        return over

    def _watch(self, over: threading.Event) -> None:
        last = -1
        while not over.wait(MOST_SECONDS):
            thread, calls = self.inside, self.calls
            if thread is not None and calls == last:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(TooLongError))
            last = calls

    def call(self, function: Callable[..., Any], *positional: Any, **named: Any) -> Any:
        """Call a function under the watch."""
        self.calls += 1
        self.inside = threading.get_ident()
        try:
            return function(*positional, **named)
        finally:
            self.inside = None


class Place(NamedTuple):
    """Where a function is: the text of a file, the name of the file, and the name of the function."""

    text: bytes
    file: str
    name: str


class UserFunction:
    """A function of a user's file.

    Attributes
    ----------
    file, name : str
        Where it is.
    function : callable
        The function itself.
    fixed : dict
        Arguments that are the same in each call.
    takes : set of str
        Names among `varying` that it takes.
    """

    def __init__(self, place: Place, given: Mapping[str, Any], known: Mapping[str, Any], varying: set[str]) -> None:
        self.file, self.name = place.file, place.name
        self._source = f"<{self.file}>"
        found = self._executed(place.text)
        self.function: Callable[..., Any] = getattr(found, "function", found)
        self.fixed, self.takes = self._arguments(given, known, varying)

    def _executed(self, text: bytes) -> Any:
        try:
            lines = text.decode().splitlines(keepends=True)
        except UnicodeDecodeError as problem:
            raise ScenarioError.saying(f"{self.file} is not UTF-8 text", "save it as UTF-8") from problem
        linecache.cache[self._source] = (len(text), None, lines, self._source)
        module = ModuleType(f"weft_function_{self.file.removesuffix('.py')}_{zlib.crc32(text):08x}")
        sys.modules[module.__name__] = module  # dataclasses look there
        try:
            exec(compile(text, self._source, "exec", dont_inherit=True), module.__dict__)
        except SyntaxError as problem:
            place = f"line {problem.lineno}: `{(problem.text or '').strip()}`"
            raise ScenarioError.saying(f"{self.file}, {place}: {problem.msg}", "correct the line") from problem
        except Exception as problem:
            raise self.raised(problem, f"{self.file}, when it is executed,") from problem
        _refuse_local(module, self.file)
        if not callable(found := module.__dict__.get(self.name)):
            names = [name for name, value in module.__dict__.items() if callable(value) and name[0] != "_"]
            help = meant(self.name, names, f"its functions: {', '.join(names) or 'none'}")
            raise ScenarioError.saying(f"{self.file} has no function `{self.name}`", help)
        return found

    def _arguments(
        self, given: Mapping[str, Any], known: Mapping[str, Any], varying: set[str]
    ) -> tuple[dict[str, Any], set[str]]:
        """The arguments that do not vary, and the varying ones that the function takes."""
        parameters = inspect.signature(self.function).parameters
        takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
        own = {
            name for name, each in parameters.items() if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
        }
        offered = ", ".join([*sorted(varying), *known])
        for name in given:
            if name in known or name in varying:
                help = f"rename this parameter: Weft itself gives {offered}"
                raise ScenarioError.saying(f"`parameters` has `{name}`, which Weft gives", help)
            if name not in own and not takes_any:
                what = f"`{self.name}` of {self.file} has no parameter `{name}`"
                raise ScenarioError.saying(what, meant(name, sorted(own), f"its parameters: {', '.join(parameters)}"))
        for name, each in parameters.items():
            if each.kind is each.POSITIONAL_ONLY:
                what = f"`{name}` of `{self.name}` in {self.file} is a parameter by position only"
                raise ScenarioError.saying(what, "leave out the `/`: Weft passes arguments by their names")
            needed = each.default is each.empty and each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
            if needed and name not in given and name not in known and name not in varying:
                what = f"`{self.name}` of {self.file} takes `{name}`, which nobody gives"
                help = f"write it under `parameters`, or rename it: Weft itself gives {offered}"
                raise ScenarioError.saying(what, help)
        fixed = dict(given) | {name: value for name, value in known.items() if name in own}
        return fixed, varying & own

    def line(self, problem: BaseException) -> str:
        """The last line of the user's file on the way to an exception."""
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
        """The line from which the function returns in a call that `again` repeats."""
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
            again()
        finally:
            sys.settrace(before)
        return self._place(lines[-1] if lines else self._first_line())

    def raised(self, problem: BaseException, call: str) -> ScenarioError:
        """The error for a call that raised an exception."""
        if isinstance(problem, TooLongError):
            what = f"{call} did not return within {MOST_SECONDS:g} s ({self.line(problem)})"
            return ScenarioError.saying(what, "end its loop: a function is called once for each of many cases")
        words = f"{type(problem).__name__}: {problem}".removesuffix(": ")
        what = f"{call} raised {words} ({self.line(problem)})"
        return ScenarioError.saying(what, "correct the function; it runs in any Python with the same arguments")


def unequal(function: UserFunction, case: str) -> ScenarioError:
    """The error for a function that answers the same question in two ways."""
    what = f"`{function.name}` of {function.file} returns something else when it is called again for {case}"
    help = "return a result of the arguments alone; draw random numbers with the argument `rng` of a pattern"
    return ScenarioError.saying(what, help)


def brief(value: Any) -> str:
    """A value as a message shows it."""
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."


def _refuse_local(module: ModuleType, file: str) -> None:
    """Refuse a file that uses code of the user in other files: the hash of results would not cover it."""
    for name, value in module.__dict__.items():
        of = value if isinstance(value, ModuleType) else sys.modules.get(getattr(value, "__module__", None) or "")
        if of is not None and of is not module and not is_installed(of):
            what = f"`{name}` of {file} comes from {of.__name__}, a file whose text the results do not keep"
            raise ScenarioError.saying(what, f"copy what it uses into {file}, or install it as a package")
