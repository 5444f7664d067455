"""Make a page per model, from the header of its file and the schema of its parameters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from weft import _engine
from weft.scenario import parameters
from weft_docs import markdown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HEADINGS = ("Source", "Parameters", "Guarantees", "Not modelled", "Validation")


class Family(NamedTuple):
    """A family of models, and the paths of its code."""

    title: str
    what: str
    folder: str
    registry: str


FAMILIES = {
    "topology": Family(
        "Topologies",
        "Routers, terminals and the links between them.",
        "topology/src/models",
        "topology/src/models/mod.rs",
    ),
    "routing": Family("Routings", "How packets find their way.", "models/src/routing", "models/src/routing/mod.rs"),
    "traffic.pattern": Family(
        "Traffic patterns", "Who sends to whom.", "traffic/src/pattern", "traffic/src/pattern.rs"
    ),
    "traffic.injection": Family(
        "Injection processes", "When sources create packets.", "traffic/src/injection", "traffic/src/injection.rs"
    ),
    "traffic.workload": Family(
        "Workloads",
        "What the terminals of a job send, and when.",
        "models/src/workload",
        "models/src/workload/mod.rs",
    ),
    "power.policy": Family(
        "Power policies",
        "When channels change their power state.",
        "models/src/power",
        "models/src/power/mod.rs",
    ),
    "router.allocator": Family(
        "Allocators",
        "Who crosses the switch in an allocation step.",
        "models/src/allocation",
        "models/src/allocation/mod.rs",
    ),
    "queueing": Family(
        "Queueing schemes",
        "Which packets share a queue of an input buffer.",
        "models/src/queueing",
        "models/src/queueing/mod.rs",
    ),
    "congestion_control": Family(
        "Congestion control",
        "How the sources of marked packets are slowed down.",
        "models/src/congestion",
        "models/src/congestion/mod.rs",
    ),
    "measure": Family(
        "Recordings",
        "Tables of a point that a scenario asks for, each by its own key.",
        "models/src/recording",
        "models/src/recording/mod.rs",
    ),
}
# Files with the golden rows of each other simulator.
PEERS = {"BookSim2": "booksim.csv", "CAMINOS": "caminos.csv", "FOGSim": "fogsim.csv"}


def pages(root: Path) -> dict[str, str]:
    """Make the pages of all models and families; the keys are their names."""
    schema, made = _engine.schema(), {}
    for family, models in registered(root).items():
        folder = f"models/{family}"
        for model in models:
            made[f"{folder}/{model['name']}"] = _model(schema, root, family, model["name"])
        made[f"{folder}/index"] = _family(root, family, models)
    made["models/index"] = _index(root)
    made["not_modelled"] = _not_modelled(root)
    return made


def registered(root: Path) -> dict[str, list[dict[str, str]]]:
    """The models of each family, without models from other crates, whose files are not in this repository."""
    listed = {}
    for family, models in _engine.models().items():
        lines = (root / "crates" / FAMILIES[family].registry).read_text(encoding="utf-8")
        listed[family] = [
            model
            for model in models
            if re.search(rf'^\s*"{model["name"]}" => ', lines, re.M) or _function(root, family, model["name"])
        ]
    return listed


def _function(root: Path, family: str, name: str) -> Path | None:
    """The file of a model that the crate of the Python module adds to a family; None for other models."""
    file = root / "crates/python/src/functions" / f"{family.rpartition('.')[2]}.rs"
    return file if file.is_file() and re.search(rf'^add_model! .*"{name}" =>', file.read_text(), re.M) else None


def source(root: Path, family: str, name: str) -> Path:
    """The path of the file of a model."""
    if added := _function(root, family, name):
        return added
    place = FAMILIES[family]
    registry = (root / "crates" / place.registry).read_text(encoding="utf-8")
    module = re.findall(rf'^\s*"{name}" => (\w+)::', registry, re.M)[0]
    folder = root / "crates" / place.folder
    (file,) = folder.rglob(f"{module}.rs")  # in the folder of the family, or in a folder inside it
    return file


def header(path: Path) -> dict[str, str]:
    """Read the header of a model's file: the first paragraph, with an empty heading, then the sections by heading."""
    sections, heading = {"": ""}, ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("//!"):
            break
        text = line.removeprefix("//!").strip()
        if text.startswith("# "):
            heading = text.removeprefix("# ")
            sections[heading] = ""
        else:
            sections[heading] += text + "\n"
    return {heading: text.strip() for heading, text in sections.items()}


def _model(schema: parameters.Schema, root: Path, family: str, name: str) -> str:
    path = source(root, family, name)
    sections = header(path)
    parts = [
        f"# `{name}`",
        markdown.comment(sections[""]),
        f"It is `{name}` under the key `{family}` of a scenario. Its code: `{path.relative_to(root)}`.",
    ]
    for heading in HEADINGS:
        parts += [f"## {heading}", markdown.comment(sections[heading])]
        if heading == "Parameters":
            parts += list(_parameters(schema, family, name))
    return "\n\n".join(parts) + "\n"


def _parameters(schema: parameters.Schema, family: str, name: str) -> Iterator[str]:
    """Write the table of the parameters, if the model has any."""
    target = parameters.model(schema, family, name)
    if "items" in target:
        yield "Its value is a list; each item has:"
        target = parameters.target(schema, target["items"])
    keys = []
    for key in parameters.keys(schema, target):
        is_family = frozenset(word for word, _ in key.choices) in FAMILY_OF
        keys += [key, *(() if is_family else parameters.inner(schema, key))]
    if rows := key_rows(keys):
        yield markdown.table(["key", "value", "default", "meaning"], rows)


def key_rows(keys: list[parameters.Parameter]) -> list[list[str]]:
    """Rows of a table of keys: a row per key, and a row per word that is a possible value of the key."""
    rows = []
    for parameter in keys:
        family = FAMILY_OF.get(frozenset(word for word, _ in parameter.choices))
        kind = "one of:" if parameter.choices else parameter.kind
        default = markdown.code(parameter.default)
        if family:
            kind = f"one of the [{FAMILIES[family].title.lower()}](/_generated/models/{family}/index.md)"
        elif parameter.target.get("properties") and parameter.default != "-":
            default = "see below"
        rows.append([f"`{parameter.key}`", kind, default, markdown.comment(parameter.meaning)])
        if not family:
            rows += [["", f"`{word}`", "", markdown.comment(meaning)] for word, meaning in parameter.choices]
    return rows


FAMILY_OF = {frozenset(model["name"] for model in models): family for family, models in _engine.models().items()}


def _family(root: Path, family: str, models: list[dict[str, str]]) -> str:
    rows = []
    for model in models:
        name = model["name"]
        validation = header(source(root, family, name))["Validation"]
        note = " (for information)" if "for information" in validation and family == "routing" else ""
        held = [f"{peer}{note}" for peer, file in PEERS.items() if file in validation]
        rows.append([f"[`{name}`]({name}.md)", markdown.comment(model["summary"]), ", ".join(["theory", *held])])
    place = FAMILIES[family]
    key = f"The key in a scenario is `{family}`."
    parts = [f"# {place.title}", f"{place.what} {key}", markdown.table(["model", "what it is", "held to"], rows)]
    return "\n\n".join([*parts, markdown.contents([model["name"] for model in models])]) + "\n"


def _index(root: Path) -> str:
    rows = [
        [f"[{FAMILIES[family].title}]({family}/index.md)", FAMILIES[family].what, str(len(models))]
        for family, models in registered(root).items()
    ]
    text = (
        "A model is one file of code whose header says where it comes from, what it takes, what it keeps, what it "
        "leaves out and what holds it to theory or to another simulator. These pages are those headers."
    )
    names = [f"{family}/index" for family in FAMILIES]
    return (
        "\n\n".join(["# Models", text, markdown.table(["family", "", "models"], rows), markdown.contents(names)]) + "\n"
    )


def _not_modelled(root: Path) -> str:
    """Write the section `Not modelled` of every model, for the page of known faults."""
    parts = []
    for family, models in registered(root).items():
        rows = []
        for model in models:
            left_out = header(source(root, family, model["name"]))["Not modelled"]
            rows.append([f"[`{model['name']}`](/_generated/models/{family}/{model['name']}.md)", _line(left_out)])
        parts += [f"### {FAMILIES[family].title}", markdown.table(["model", "not modelled"], rows)]
    return "\n\n".join(parts) + "\n"


def _line(text: str) -> str:
    return markdown.comment(" ".join(text.split()))
