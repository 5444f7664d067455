"""Tests names in the Python interface: completion of kinds of figures, models as objects, and old names that still
work.
"""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING, Any

import pytest

import weft
from conftest import SMALL
from weft import _engine
from weft.plot.accessor import Drawn, OneKind, Plots
from weft.plot.kinds import KINDS, KindName

if TYPE_CHECKING:
    from weft.api.results import Results


def test_type_checkers_and_completion_see_every_kind_of_figure(made_up: Results) -> None:
    drawn = [name for name, value in vars(Plots).items() if isinstance(value, Drawn)]
    assert list(typing.get_args(KindName)) == drawn == list(KINDS)
    assert set(KINDS) <= set(dir(made_up.plot))


def test_a_kind_is_drawn_or_made(made_up: Results) -> None:
    kind = made_up.plot.latency_accepted
    assert isinstance(kind, OneKind)
    assert kind(width="column").is_file()
    assert (
        kind.figure(width="column").get_figwidth()
        == made_up.plot.figure("latency_accepted", width="column").get_figwidth()
    )
    with pytest.raises(AttributeError):
        made_up.plot.lod  # type: ignore[attr-defined]  # noqa: B018


def test_old_names_still_work_and_warn() -> None:
    with pytest.warns(DeprecationWarning, match="the parameter set= of load is now called overrides="):
        old = weft.load(SMALL, set={"seed": 7})  # type: ignore[call-arg]
    new = weft.load(SMALL, overrides={"seed": 7})
    assert [point.hash for point in old.points] == [point.hash for point in new.points]
    with pytest.raises(TypeError, match="remove set="):
        weft.load(SMALL, set={}, overrides={})  # type: ignore[call-arg]
    with pytest.warns(DeprecationWarning, match=r"weft.open is now called weft.open_results"):
        assert weft.open is weft.open_results


@pytest.mark.parametrize("family", _engine.examples())
def test_every_example_of_a_model_is_an_object(family: str) -> None:
    """Every documented example of a model can be written with `weft.model`, if the parameters of the model are a
    mapping."""
    for example in _engine.examples()[family]:
        for name, parameters in example.items():
            if isinstance(parameters, dict):
                assert weft.model(name, **parameters) == example


def test_a_scenario_of_objects_is_that_of_its_text() -> None:
    routings = [weft.model("dimension_order"), weft.model("ugal_p")]
    scenario: dict[str, Any] = {
        "topology": weft.model("hyperx", widths=(4, 4), terminals_per_router=4),
        "links": {
            "default": {"latency": "10cycles", "vcs": 6, "buffer": "32flits"},
            "terminal": {"latency": "1cycle"},
        },
        "traffic": {"pattern": "uniform", "load": 0.1},
        "measure": {"warmup": "500cycles", "window": "500cycles"},
        "sweep": {"traffic.pattern": ["uniform", "tornado"], "routing": routings, "traffic.load": [0.05, 0.1, 0.4]},
    }
    assert {point.hash for point in weft.load(scenario).points} == {point.hash for point in weft.load(SMALL).points}


@pytest.mark.parametrize(
    ("name", "parameters", "what", "help"),
    [
        ("tours", {}, "there is no model 'tours'", "did you mean `torus`"),
        ("torus", {"width": [4]}, "the model 'torus' has no parameter 'width'", "did you mean `widths`"),
        ("always_on", {"zzz": 1}, "the model 'always_on' has no parameter 'zzz'", "it has no parameters"),
        # a routing and a policy have the name slac
        ("slac", {"low": 0.1, "epoch": "1us"}, "the model 'slac' has no parameter 'epoch'", "its parameters: low"),
    ],
)
def test_a_wrong_name_or_parameter_is_refused(name: str, parameters: dict[str, Any], what: str, help: str) -> None:
    with pytest.raises(weft.ScenarioError) as refused:
        weft.model(name, **parameters)
    assert refused.value.what == what
    assert help in refused.value.help
