"""`weft.model` makes a model with its parameters as a Python object.

The name and the parameters are checked at once, before a scenario uses the model.
"""

from __future__ import annotations

from typing import Any

from weft.errors import ScenarioError
from weft.scenario import parameters as of_models
from weft.text.meant import meant


def model(name: str, /, **parameters: Any) -> dict[str, Any]:
    """Make a model for a scenario: a topology, a routing, a pattern, a power policy, ...

    Parameters
    ----------
    name : str
        Name of the model, as `weft list` prints it.
    **parameters : value
        The parameters of the model: quantities as strings with a unit, lists and arrays, or other models.

    Returns
    -------
    dict
        The model in the form that a scenario has. `weft.load` accepts the dict as the value of a key, in a list of a
        sweep, and in `overrides`.

    Raises
    ------
    ScenarioError
        If no model has this name, or if no model of this name has one of the parameters.

    Examples
    --------
    >>> weft.model("torus", widths=[4, 4], terminals_per_router=2)
    {'torus': {'widths': [4, 4], 'terminals_per_router': 2}}
    """
    from weft import _engine

    families = [family for family, models in _engine.models().items() if any(each["name"] == name for each in models)]
    if not families:
        names = sorted({each["name"] for models in _engine.models().values() for each in models})
        remedy = meant(str(name), names, "`weft list` prints all models")
        raise ScenarioError.saying(f"there is no model {name!r}", remedy)
    schema = _engine.schema()
    each = [[key.key for key in of_models.keys(schema, of_models.model(schema, family, name))] for family in families]
    # models of several families can have the same name. The user probably means the one that knows most of these
    # parameters
    known = min(each, key=lambda own: len(parameters.keys() - set(own)))
    if parameters.keys() <= set(known):
        return {name: parameters}
    wrong = next(key for key in parameters if key not in known)
    listed = f"its parameters: {', '.join(known)}" if known else "it has no parameters: leave it out"
    raise ScenarioError.saying(f"the model {name!r} has no parameter {wrong!r}", meant(wrong, known, listed))
