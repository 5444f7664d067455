"""Types of the Rust module; a test holds it against the module itself."""

from collections.abc import Sequence
from os import PathLike
from typing import Any, Final, final

__all__ = [
    "CONTROL_PACKETS",
    "ENDINGS",
    "LINK_STATES",
    "RECORDS",
    "RESULT_MODEL_VERSION",
    "STALL_CAUSES",
    "WAITING_REASONS",
    "Control",
    "Finished",
    "Point",
    "examples",
    "expand",
    "models",
    "read",
    "recordings",
    "schema",
]

RESULT_MODEL_VERSION: Final[int]
# Words of results, each a whole list in the order of the engine.
LINK_STATES: Final[tuple[str, ...]]
CONTROL_PACKETS: Final[tuple[str, ...]]
RECORDS: Final[tuple[str, ...]]
ENDINGS: Final[tuple[str, ...]]
WAITING_REASONS: Final[tuple[str, ...]]
STALL_CAUSES: Final[tuple[str, ...]]

def expand(
    file_name: str, text: str, sets: list[tuple[str, str]], attached: list[tuple[str, bytes]]
) -> list[Point]: ...
def read(file: str | PathLike[str]) -> str: ...
def schema() -> dict[str, Any]: ...
def models() -> dict[str, Any]: ...
def recordings() -> list[dict[str, Any]]: ...
def examples() -> dict[str, list[dict[str, Any]]]: ...

@final
class Control:
    def __new__(cls) -> Control: ...
    @property
    def cycle(self) -> int: ...
    @property
    def cycles(self) -> int: ...
    @property
    def stopped(self) -> bool: ...
    def stop(self) -> None: ...

@final
class Point:
    @property
    def coordinates(self) -> dict[str, Any]: ...
    @property
    def hash(self) -> str: ...
    @property
    def resolved(self) -> dict[str, Any]: ...
    def resolved_yaml(self) -> str: ...
    def check_network(self) -> None: ...
    def imply(self) -> dict[str, Any]: ...
    def network(self) -> dict[str, Any]: ...
    def traffic_matrix(self) -> list[list[float]]: ...
    def explain_topology(self) -> dict[str, Any]: ...
    def explain_routing(self, source: int, target: int) -> dict[str, Any]: ...
    def run(
        self,
        threads: int,
        blocks: int,
        control: Control,
        watch: Sequence[tuple[int, int]] = ...,
        watch_first: int = 0,
    ) -> Finished: ...

@final
class Finished:
    @property
    def summary(self) -> dict[str, Any]: ...
    @property
    def journeys(self) -> list[dict[str, Any]]: ...
    @property
    def stalled(self) -> str | None: ...
    def save(self, folder: str | PathLike[str]) -> None: ...
