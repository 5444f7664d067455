"""Tests numbers with SI prefixes: Python code and the JavaScript of reports print the same text."""

from __future__ import annotations

from importlib.resources import files

import pytest

from browser import browser
from weft.text.si import si

# Cases: value, unit, number of significant digits, and expected text.
NUMBERS = [
    (0.0, "J", 4, "0 J"),
    (28365.18, "W", 3, "28.4 kW"),
    (28365.18, "W", 4, "28.37 kW"),
    (220.05, "W", 4, "220.1 W"),
    (3.172e-05, "J", 4, "31.72 \u00b5J"),
    (5.434e-7, "J", 4, "543.4 nJ"),
    (999.96, "W", 4, "1 kW"),
    (999.94, "W", 4, "999.9 W"),
    (1000.0, "W", 3, "1 kW"),
    (1e6, "W", 3, "1 MW"),
    (0.001, "s", 3, "1 ms"),
    (-1234.5, "W", 3, "-1.23 kW"),
    (-0.0, "W", 3, "0 W"),
    (128.0, "W", 2, "130 W"),
    (2e-21, "J", 3, "0.002 aJ"),
    (4.2e21, "J", 3, "4200 EJ"),
    (None, "W", 3, "-"),
]


@pytest.mark.parametrize(("value", "unit", "digits", "text"), NUMBERS)
def test_a_number_has_the_prefix_that_suits_it(value: float | None, unit: str, digits: int, text: str) -> None:
    assert si(value, unit, digits) == text


def test_the_scripts_of_a_report_write_the_same() -> None:
    script = files("weft.report").joinpath("assets", "numbers.js").read_text(encoding="utf-8")
    with browser() as driver:
        call = "return arguments[0].map(([value, unit, digits]) => si(value, unit, digits));"
        assert driver.execute_script(f"{script}\n{call}", [row[:3] for row in NUMBERS]) == [row[3] for row in NUMBERS]
        column = "return sharedPrefix([null, 0, 28365.18, 2.5], 'W')"
        assert driver.execute_script(f"{script}\n{column}") == {"unit": "kW", "scale": pytest.approx(1e-3), "digits": 2}
        cells = "return [written(3.42e-9, 2), written(0.12345), written(21, 1), written(92223.4, 1)]"
        texts = ["0.0000000034", "0.1235", "21.0", "92\u2009223.4"]
        assert driver.execute_script(f"{script}\n{cells}") == texts
