"""Directives that run commands during the build of a page, in a folder of the page, and show their output.

``{file} NAME`` shows a file and writes it; ``{shell}`` shows commands, runs them and shows their output; ``{picture}
PATH`` shows an image that a command wrote; ``{page} PATH`` shows an HTML file that a command wrote. If the exit status
of a command is not the status that the page expects, the build prints a warning. The site is built with warnings as
errors. Therefore every command on a page works.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from weft_docs.warm import warm

if TYPE_CHECKING:
    from collections.abc import Callable

    from sphinx.application import Sphinx

    Options = dict[str, Callable[[str], Any]]

LIVE = "_generated/live"
BIN = Path(sys.executable).parent
WIDTH = 108
"""Columns of a terminal that fit on a page."""
# Maximum length of a line of output [letters]: the box of an output has space for it on a screen of 1,280 pixels.
_LETTERS = 120
# First letters of lines of code, which are not wrapped: comments, texts, lists and objects.
_CODE = '#"[{'


def setup(app: Sphinx) -> None:
    """Register the directives."""
    for name, directive in {"file": File, "shell": Shell, "picture": Picture, "page": Page}.items():
        app.add_directive(name, directive)
    commands = ExitStack()

    def start(_: Sphinx) -> None:
        Shell.program = commands.enter_context(warm())

    app.connect("builder-inited", start)
    app.connect("build-finished", lambda _app, _error: commands.close())
    app.connect("env-purge-doc", lambda app, _env, page: shutil.rmtree(_folder(app, page), ignore_errors=True))


def _folder(app: Sphinx, page: str) -> Path:
    return Path(app.srcdir) / LIVE / page


class Live(SphinxDirective):
    """Base class of directives that use the folder of their page."""

    @property
    def folder(self) -> Path:
        """The folder of the page. It contains links to folders of the project, under the same names."""
        folder = _folder(self.env.app, self.env.docname)
        if not folder.is_dir():
            folder.mkdir(parents=True)
            for name in ("examples", "template", "tests"):
                (folder / name).symlink_to(Path(__file__).parent.parent.parent / name)
        return folder

    def block(self, text: str, language: str, *classes: str) -> nodes.literal_block:
        """Make a block of literal text."""
        return nodes.literal_block(text, text, language=language, classes=list(classes))

    def written(self) -> tuple[Path, list[nodes.Node]]:
        """The file that the argument names, and a warning if no command wrote this file."""
        path = self.folder / self.arguments[0]
        if path.is_file():
            return path, []
        return path, [self.state.document.reporter.warning(f"no command wrote {self.arguments[0]}", line=self.lineno)]


class File(Live):
    """Directive that shows a file which the reader writes."""

    has_content = True
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Write the file and show it under its name."""
        name, text = self.arguments[0], "\n".join(self.content)
        (self.folder / name).write_text(text + "\n", encoding="utf-8")
        language = {".yaml": "yaml", ".json": "json", ".py": "python"}.get(Path(name).suffix, "text")
        caption = nodes.caption("", "", nodes.literal("", name))
        return [
            nodes.container(
                "", caption, self.block(text, language), literal_block=True, classes=["literal-block-wrapper"]
            )
        ]


class Shell(Live):
    """Directive that runs commands and shows them with their output."""

    has_content = True
    program: ClassVar[Path]
    """The folder of the command `weft`."""
    option_spec: ClassVar[Options] = {
        "status": directives.nonnegative_int,
        "first": directives.nonnegative_int,
        "last": directives.positive_int,
        "quiet": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        """Run the commands and show them with their output."""
        commands = "\n".join(self.content)
        environment = os.environ | {
            "PATH": f"{self.program}:{BIN}:{os.environ['PATH']}",
            "COLUMNS": str(WIDTH),
            "NO_COLOR": "1",
        }
        done = subprocess.run(
            ["bash", "-euc", commands],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        shown: list[nodes.Node] = [self.block(commands, "sh")]
        if done.returncode != (expected := self.options.get("status", 0)):
            text = f"exit status {done.returncode} instead of {expected}: {commands}\n{done.stdout}"
            shown.append(self.state.document.reporter.warning(text, line=self.lineno))
        if done.stdout.strip() and "quiet" not in self.options:
            shown.append(nodes.container("", self.block(self._shown(done.stdout), "text"), classes=["output"]))
        return shown

    def _shown(self, output: str) -> str:
        """The first or last lines of the output, and the number of other lines. Long sentences are wrapped."""
        # commands are shown without the folder of this machine
        lines = output.rstrip().replace(f"{BIN}/", "").splitlines()
        first = self.options.get("first", 0 if "last" in self.options else len(lines))
        last = self.options.get("last", 0)
        if first + last < len(lines):
            left_out = f"... ({len(lines) - first - last} more lines)"
            lines = [*lines[:first], left_out, *lines[len(lines) - last :]]
        return "\n".join(part for line in lines for part in _broken(line))


def _broken(line: str) -> list[str]:
    """Wrap a line that is a sentence at `_LETTERS`. Code, and rows of tables, which have wide gaps, stay whole."""
    line = line.rstrip()
    indent = line[: len(line) - len(line.lstrip())]
    if len(line) <= _LETTERS or "  " in line.strip() or line.lstrip()[0] in _CODE:
        return [line]
    return textwrap.wrap(
        line, _LETTERS, subsequent_indent=f"{indent}  ", break_long_words=False, break_on_hyphens=False
    )


class Picture(Live):
    """Directive that shows an image that a command wrote."""

    required_arguments = 1
    option_spec: ClassVar[Options] = {"alt": directives.unchanged_required, "width": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Show the image."""
        _, complaints = self.written()
        uri = f"/{LIVE}/{self.env.docname}/{self.arguments[0]}"
        width = self.options.get("width", "60%")  # about the width of a column of a paper
        return [*complaints, nodes.image("", uri=uri, width=width, alt=self.options.get("alt", ""))]


class Page(Live):
    """Directive that shows an HTML file that a command wrote, in a frame."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Show the file in a frame, with a link that opens the file alone."""
        path, complaints = self.written()
        place = f"_pages/{self.env.docname}/{path.name}"
        if not complaints:
            to = Path(self.env.app.outdir) / place
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, to)
        uri = "../" * self.env.docname.count("/") + place
        frame = (
            f'<iframe class="report" src="{uri}" title="{path.name}" loading="lazy"></iframe>'
            f'<p><a href="{uri}" target="_blank">open {path.name} alone</a></p>'
        )
        return [*complaints, nodes.raw("", frame, format="html")]
