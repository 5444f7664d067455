"""The parser of the command line, which suggests the most similar known word for an unknown one."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, NoReturn

from weft.text.meant import meant

if TYPE_CHECKING:
    from collections.abc import Sequence


class Parser(argparse.ArgumentParser):
    """A parser whose errors suggest the known word that the user probably meant.

    The parsers of subcommands use this class as well.
    """

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments, and refuse an option that this command does not have."""
        words = None if args is None else self._with_negative_values(list(args))
        found, rest = super().parse_known_args(words, namespace)
        for word in _options(rest):
            self.error(*self._no_option(word))
        return found, rest

    def _with_negative_values(self, words: list[str]) -> list[str]:
        """Join each option with a negative value that follows, as in ``--L=-5ns``.

        Argparse takes a separate word such as ``-5ns`` for an option. If the value is joined, the check of the option
        refuses it with an error that names the fault.
        """
        joined: list[str] = []
        for word in words:
            before = self._option_string_actions.get(joined[-1]) if joined else None
            takes_one = before is not None and before.nargs is None
            if takes_one and word[:1] == "-" and word[1:2].isdecimal() and word not in self._option_string_actions:
                joined[-1] += f"={word}"
            else:
                joined.append(word)
        return joined

    def _no_option(self, word: str) -> tuple[str, str]:
        otherwise = f"`{self.prog} --help` lists the options"
        return f"there is no option {word}", meant(word, self._option_string_actions, otherwise)

    def parse_args(self, args: Any, namespace: Any = None) -> Any:  # type: ignore[override]  # all arguments are given
        """Parse the arguments, and refuse words that are left over."""
        for word in _options(args[:1]):  # report wrong options before a missing command is reported
            if not any(known.startswith(word) for known in self._option_string_actions):
                self.error(*self._no_option(word))
        found, rest = self.parse_known_args(args, namespace)
        if rest:
            self.error(f"{' '.join(rest)!r} is too much: the command has no more arguments")
        return found

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            whose = "/".join(action.option_strings) or str(action.metavar or action.dest)
            choices = [str(each) for each in action.choices]
            known = f"choose from {', '.join(choices)}"
            if isinstance(action, argparse._SubParsersAction):
                self.error(f"there is no {str(whose).lower()} {value!r}", meant(value, choices, known))
            self.error(f"{whose}: there is no {value!r}", meant(value, choices, known))

    def error(self, message: str, help: str = "") -> NoReturn:
        """Print an error and end with exit status 2."""
        remedy = help or f"`{self.prog} --help` lists the arguments"
        self.exit(2, f"error: {self.prog}: {message}\n  = help: {remedy}\n")


def _options(words: Sequence[str]) -> list[str]:
    """Unknown options among the words that the parser did not recognise, without the values of these options."""
    return [word.partition("=")[0] for word in words if word.startswith("-") and word != "--" and len(word) > 1]
