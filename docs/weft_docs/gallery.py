"""The directive ``{shot}``: a picture of an example, with its scenario and commands, made during the build of the page.

``{shot} SCENARIO`` runs a scenario of the project and draws one figure of its results, in light and dark colours. The
content of the directive is the caption. The option ``plot`` is the kind of the figure with its options. ``alt`` is the
text for readers who do not see the picture. ``set`` is an override of the scenario.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives

from weft_docs.live import BIN, LIVE, Live, Shell

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from weft_docs.live import Options

DARK = Path(__file__).parent.parent / "_static" / "dark.mplstyle"


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("shot", Shot)


class Shot(Live):
    """Directive that shows a picture with its caption, its scenario and its commands."""

    has_content = True
    required_arguments = 1
    option_spec: ClassVar[Options] = {
        "plot": directives.unchanged_required,
        "alt": directives.unchanged_required,
        "set": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        """Run the scenario, draw the figure in light and dark colours, and show it."""
        missing = [option for option in ("plot", "alt") if option not in self.options]
        if missing:
            return [self.state.document.reporter.warning(f"a shot needs {' and '.join(missing)}", line=self.lineno)]
        scenario = self.arguments[0]
        kind, *options = shlex.split(self.options["plot"])
        name = Path(scenario).stem
        run = ["weft", "run", scenario, *(["--set", self.options["set"]] if "set" in self.options else [])]
        plot = ["weft", "plot", kind, f"results/{name}", *options]
        pictures = {"light": [], "dark": ["--style", str(DARK)]}
        files = {look: f"{name}-{kind}-{look}.png" for look in pictures}
        self._reuse(name)
        drawn = [[*plot, *style, "--no-csv", "--out", files[look]] for look, style in pictures.items()]
        hidden = [[*run, "--no-picture", "--out", f"results/{name}"], *drawn]
        complaints = [complaint for command in hidden for complaint in self._run(command)]
        figure = nodes.container("", classes=["shot"])
        for look, file in files.items():
            uri = f"/{LIVE}/{self.env.docname}/{file}"
            figure += nodes.image("", uri=uri, alt=self.options["alt"], classes=[f"only-{look}"])
        caption = nodes.container("")
        self.state.nested_parse(self.content, self.content_offset, caption)
        figure += caption
        shown = self.folder / scenario
        figure += nodes.raw("", "<details><summary>scenario and commands</summary>", format="html")
        figure += self.block(shown.read_text(encoding="utf-8").rstrip(), "yaml")
        figure += self.block("\n".join(shlex.join(command) for command in (run, plot)), "sh")
        figure += nodes.raw("", "</details>", format="html")
        return [*complaints, figure]

    def _reuse(self, name: str) -> None:
        """Copy points that earlier pages have run: Weft finds the points of this scenario by their hashes."""
        for page in self.env.all_docs:
            points = Path(self.env.srcdir) / LIVE / page / "results" / name / "points"
            if page != self.env.docname and points.is_dir():
                shutil.copytree(points, self.folder / "results" / name / "points", dirs_exist_ok=True)

    def _run(self, command: list[str]) -> list[nodes.Node]:
        """Run a command without showing it. Return a warning if the command fails."""
        environment = os.environ | {"PATH": f"{Shell.program}:{BIN}:{os.environ['PATH']}", "NO_COLOR": "1"}
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode == 0:
            return []
        text = f"exit status {done.returncode}: {shlex.join(command)}\n{done.stderr}"
        return [self.state.document.reporter.warning(text, line=self.lineno)]
