"""Converts BookSim2's traffic patterns to patterns of Weft, or to files with a traffic matrix if Weft has none."""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING, Any

from weft_peers.booksim import matrix, models
from weft_peers.booksim.grammar import call

if TYPE_CHECKING:
    from collections.abc import Callable

    from weft_peers.booksim.draft import Draft
    from weft_peers.booksim.models import Pattern
    from weft_peers.booksim.topology import Network


def checked(draft: Draft, text: str, terminals: int) -> Pattern:
    """Read a traffic pattern, and check that BookSim2 accepts its arguments."""
    config = draft.config
    name, arguments = call(text)
    if "traffic" in config.of_device:
        return models.read_pattern("uniform", config.whole)
    if name not in models.PATTERNS:
        config.fail(
            "traffic", f"BookSim2 has no pattern {name}", f"BookSim2 knows {', '.join(sorted(models.PATTERNS))}"
        )
    found = models.read_pattern(text, config.whole)
    if name in _CHECKS:
        _CHECKS[name](draft, found, terminals)
    if len(arguments) == 1 and "," in arguments[0] and not arguments[0].startswith("{") and "({" not in text:
        draft.idle(
            "traffic", f"BookSim2 reads only the first number of ({arguments[0]}); ({{{arguments[0]}}}) passes all"
        )
    return found


def _bits(draft: Draft, found: Pattern, terminals: int) -> None:
    bits, even = terminals.bit_length() - 1, found.name == "transpose"
    if terminals < 2 or terminals != 1 << bits or (even and bits % 2):
        kind = "an even power of two" if even else "a power of two"
        what = f"BookSim2 needs {kind} of terminals, but there are {terminals}"
        draft.config.fail("traffic", what, "write traffic = uniform;")


def _digits(draft: Draft, found: Pattern, terminals: int) -> None:
    if found.radix < 2 or not 0 < found.digits <= 30 or found.radix**found.digits > terminals:
        what = f"{found.digits} digits of base {found.radix} can't number {terminals} terminals"
        draft.config.fail("traffic", what, f"write {found.name}({{k,n,1}}) with k^n = {terminals}")


def _rows(draft: Draft, found: Pattern, terminals: int) -> None:
    if found.radix < 1 or found.radix**2 != terminals:
        what = f"{found.radix} rows of {found.radix} terminals are not {terminals} terminals"
        draft.config.fail("traffic", what, f"write badperm_yarc({{{isqrt(terminals)},1,1}})")


def _groups(draft: Draft, found: Pattern, terminals: int) -> None:
    group = 2 * found.radix**2
    if not 0 < group <= terminals:
        what = f"groups of {group} terminals do not divide {terminals} terminals"
        draft.config.fail("traffic", what, f"write bad_dragon({{{max(isqrt(terminals // 4), 1)},1}})")


def _taper(draft: Draft, found: Pattern, terminals: int) -> None:  # noqa: ARG001 - all checks have one signature
    if terminals != 64:
        draft.config.fail("traffic", f"BookSim2 needs 64 terminals, but there are {terminals}", "write uniform")


def _halves(draft: Draft, found: Pattern, terminals: int) -> None:  # noqa: ARG001
    if terminals % 2:
        draft.config.fail(
            "traffic", f"{terminals} terminals can't be divided into halves", "choose an even number of terminals"
        )


def _hotspots(draft: Draft, found: Pattern, terminals: int) -> None:
    if any(target < 0 for target, _ in found.targets):
        draft.refuse("traffic", "BookSim2 draws the hot spot at random, without a seed", "name it: hotspot({11})")
    elif not found.targets or any(target >= terminals or weight < 1 for target, weight in found.targets):
        what = f"targets must be 0 to {terminals - 1}, and weights 1 or more: {list(found.targets)}"
        draft.config.fail("traffic", what, "write e.g. hotspot({{0,1},{2,1}}): targets, then their weights")


def _background(draft: Draft, found: Pattern, terminals: int) -> None:
    if not all(0 <= one < terminals for one in found.excluded) or len(set(found.excluded)) in (0, terminals):
        what = f"it excludes {list(found.excluded)} of {terminals} terminals"
        draft.config.fail("traffic", what, "write e.g. background({{0,1}}), and exclude fewer")


def _permutation(draft: Draft, found: Pattern, terminals: int) -> None:  # noqa: ARG001
    draft.approximate("traffic", "the permutation is drawn in the same way, but is a different one")


_CHECKS: dict[str, Callable[[Draft, Pattern, int], None]] = {
    **dict.fromkeys(("bitcomp", "bitrev", "shuffle", "transpose"), _bits),
    **dict.fromkeys(("tornado", "neighbor"), _digits),
    "badperm_yarc": _rows,
    "bad_dragon": _groups,
    "taper64": _taper,
    "asymmetric": _halves,
    "hotspot": _hotspots,
    "background": _background,
    "randperm": _permutation,
}


def model(draft: Draft, found: Pattern, network: Network, mark: str) -> dict[str, Any]:
    """Return the pattern in Weft.

    If a traffic matrix is needed, its file is added to the draft, with a name that contains `mark`.
    """
    numbered = network.homes is None or found.name in ("uniform", "randperm")
    known = models.pattern(found, network.terminals)
    if known is not None and numbered and _same_groups(found, network):
        return known
    if network.terminals > matrix.MOST:
        what = f"Weft must write this pattern as a matrix, which is possible for at most {matrix.MOST} terminals"
        draft.refuse("traffic", what, "write traffic = uniform; or choose a smaller network")
        return models.PLAIN["uniform"]
    if not numbered:
        draft.approximate(
            "traffic", "terminals have other numbers: router by router in Weft, row by row over the floor in BookSim2"
        )
    file = f"{draft.name}-traffic{mark}.csv"
    draft.files[file] = matrix.csv(found, network.terminals, network.homes)
    return {"matrix": {"file": file}}


def _same_groups(found: Pattern, network: Network) -> bool:
    """Return whether the groups of pattern `bad_dragon` equal those of the network; true for other patterns."""
    if found.name != "bad_dragon":
        return True
    return bool(network.topology.get("dragonfly", {}).get("terminals_per_router") == found.radix)
