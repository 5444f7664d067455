"""Tests `weft cite`, which cites Weft and the papers behind the models of a scenario."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import weft
from weft import _engine
from weft.cite import bibliography
from weft.cli import main
from weft_docs.models import header, source

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parent.parent

SCENARIO = """\
topology: {fat_tree: {k: 4}}
routing: up_down
traffic:
  jobs:
    - {name: a, terminals: {range: [0, 7]}, pattern: uniform, load: 0.1}
    - {name: b, terminals: {range: [8, 15]},
       pattern: {mix: [{weight: 1, pattern: uniform}, {weight: 1, pattern: bit_reverse}]}, load: 0.1}
power: {policy: {idle_timeout: {idle: 100cycles, transition: 10cycles}}}
measure: {warmup: 100cycles, window: 200cycles}
"""


def in_headers() -> dict[str, dict[str, str]]:
    """Return the section `Source` in the header of each model's file."""
    return {
        family: {
            model["name"]: " ".join(header(source(ROOT, family, model["name"]))["Source"].split()) for model in models
        }
        for family, models in _engine.models().items()
    }


def test_the_kept_sources_are_those_of_the_headers() -> None:
    assert bibliography.sources() == in_headers()


def test_every_title_of_a_source_is_an_entry() -> None:
    for family, models in bibliography.sources().items():
        for name, text in models.items():
            titles = [entry.fields["title"].strip("{}") for entry in bibliography.entries([(family, name)])]
            for title in re.findall(r', "([^"]+)"', text):
                assert title in titles, (family, name, title)


def test_what_is_no_publication_is_a_comment() -> None:
    for family, models in bibliography.sources().items():
        for name, text in models.items():
            model = (family, name)
            found, comment = bibliography.entries([model]), bibliography.unpublished([model])
            assert all(entry.fields["title"] and entry.fields["author"] for entry in found), model
            # `weft cite` gives every source once: either as papers or as text
            assert bool(found) != bool(comment), model
            if comment:
                assert not re.search(r', "([^"]+)"', text), model
                assert all(line.startswith("%") for line in comment.splitlines())
                assert f"{family.rpartition('.')[2]} {name}: " in comment
            assert "@" not in comment  # an entry would begin with this sign


def test_an_entry_has_authors_title_and_year() -> None:
    (entry,) = [each for each in bibliography.entries([("topology", "dragonfly")]) if "kim" in each.key]
    assert entry.key == "kim2008technology"
    assert entry.fields["author"] == "J. Kim and W. J. Dally and S. Scott and D. Abts"
    assert entry.fields["year"] == "2008"
    text = entry.bibtex()
    assert text.startswith("@misc{kim2008technology,")
    assert text.count("{") == text.count("}")
    # a paper that is the source of two models is one entry, which names both models
    both = bibliography.entries([("topology", "dragonfly"), ("traffic.pattern", "mix")])
    assert [each.models for each in both if each.key == entry.key] == [("topology dragonfly", "pattern mix")]


def test_the_command_names_what_a_scenario_or_its_results_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "my.yaml"
    file.write_text(SCENARIO, encoding="utf-8")
    assert main(["cite", str(file)]) == 0
    output = capsys.readouterr().out
    keys = re.findall(r"^@misc\{([^,]+),", output, re.M)
    assert keys[0] == "weft"
    assert any(key.startswith("alfares2008") for key in keys)
    for word in ("pattern bit_reverse", "policy idle_timeout", "topology fat_tree", "routing up_down"):
        assert word in output.replace("\\_", "_")
    assert "title = {{up" not in output
    assert "prices default" in output, "the energy is that of the links of a paper"
    results = weft.load(SCENARIO).run(out=tmp_path / "out")
    assert main(["cite", str(results.root)]) == 0
    assert capsys.readouterr().out == output
    assert main(["cite"]) == 0
    assert re.findall(r"^@misc\{([^,]+),", capsys.readouterr().out, re.M) == ["weft"]
    # each run records the commit of the engine, in a file separate from its results
    assert results.run_info(0)["commit"] == (_engine.COMMIT or None)
    assert _engine.COMMIT in output


def test_prices_are_cited_where_they_are_not_of_the_scenario(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def cited(power: str) -> str:
        file = tmp_path / "priced.yaml"
        file.write_text(SCENARIO.replace("power: {", f"power: {{{power}"), encoding="utf-8")
        assert main(["cite", str(file)]) == 0
        return capsys.readouterr().out

    by_default = cited("")
    assert by_default.count("note = {Models of Weft: prices default},") == 2, "full rate, and lower rates"
    assert "kim2018tcep" in by_default
    assert "abts2010energy" in by_default
    watt = "{static: 1W, per_bit: 0fJ/bit}"
    own = cited("prices: {" + ", ".join(f"'{mode}': {watt}" for mode in ("on", "off", "waking", "draining")) + "}, ")
    assert "prices" not in own
    catalogue = cited("catalogue: {speed: 400Gb/s, cables: dr}, ")
    assert "% - prices catalogue: The catalogue of hardware." in catalogue
    assert "tcep" not in catalogue


def test_the_sources_of_default_prices_are_those_of_the_header() -> None:
    header_text = (ROOT / "crates" / "scenario" / "src" / "prices.rs").read_text(encoding="utf-8")
    assert "the TCEP paper's link (ISCA 2018)" in header_text
    assert "(Abts et al., ISCA 2010)" in header_text
