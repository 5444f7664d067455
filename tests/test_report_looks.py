"""Tests the appearance of reports: legends, numbers, colours in light and dark mode, and the printed page."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING

import pytest

import weft
from browser import Page, browser
from weft.report import bill_picture

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from selenium import webdriver

    from weft.api.results import Results

# A row of four routers. At the higher load, tornado fills the links between neighbours. One of the six links never
# carries a flit.
SLEEPING = """\
topology: {hyperx: {widths: [4], terminals_per_router: 2}}
routing: dimension_order
traffic: {pattern: tornado, packet: 2flits}
measure: {warmup: 100cycles, window: 400cycles, series: {every: 50cycles, of: channel}, transient: {bin: 50cycles}}
sweep:
  power.policy: [always_on, {idle_timeout: {idle: 20cycles, transition: 10cycles}}]
  traffic.load: [0.05, 0.9]
"""
JOBS = """\
topology: {hyperx: {widths: [3], terminals_per_router: 2}}
routing: minimal
traffic:
  jobs:
    - {name: steady, terminals: {range: [0, 3]}, pattern: uniform, load: 0.2}
    - {name: burst, terminals: {range: [4, 5]}, pattern: uniform, batch: {per_terminal: 5}}
measure: {warmup: 0cycles, window: 400cycles}
"""
EXPONENT = re.compile(r"\d[eE][+-]?\d")


@pytest.fixture(scope="module")
def driver() -> Iterator[webdriver.Chrome]:
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return weft.load(SLEEPING).run(out=tmp_path_factory.mktemp("looks") / "out")


@pytest.fixture(scope="module")
def page_of_jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return weft.load(JOBS).run(out=tmp_path_factory.mktemp("jobs") / "out").report()


@pytest.fixture
def page(driver: webdriver.Chrome, results: Results) -> Iterator[Page]:
    scheme(driver, "light")
    shown = Page(driver, results.report())
    yield shown
    scheme(driver, "light")
    assert shown.complaints() == []


def scheme(driver: webdriver.Chrome, name: str) -> None:
    """Emulate an operating system whose user prefers light or dark pages."""
    features = [{"name": "prefers-color-scheme", "value": name}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": features})


BILLED = """\
topology: {hyperx: {widths: [4], terminals_per_router: 2}}
routing: dimension_order
traffic: {pattern: uniform, load: 0.2, packet: 2flits}
measure: {warmup: 1000cycles, window: 2000cycles}
bill: {price_per_kwh: 0.2EUR, profile: [{share: 1, load: 0.2}]}
sweep:
  power.policy:
    - {idle_timeout: {idle: 200cycles, transition: 10cycles}}
    - {idle_timeout: {idle: 300cycles, transition: 10cycles}}
"""


def test_names_of_policies_are_whole_in_the_tables_of_a_bill(driver: webdriver.Chrome, tmp_path: Path) -> None:
    page = Page(driver, weft.load(BILLED).run(out=tmp_path / "billed").report())
    cells = "Array.from(document.querySelectorAll('#bill td'))"
    names = page.ask(f"{cells}.map(each => each.textContent).filter(each => each.includes('idle 200cycles'))")
    assert len(names) == 3, "a row in each table"
    assert page.ask(f"{cells}.filter(each => each.scrollWidth > each.clientWidth).map(each => each.textContent)") == []


def without_legend(page: Page) -> list[str]:
    drawn = "Array.from(document.querySelectorAll('.chart')).filter(each => each.offsetParent)"
    return list(page.ask(f"{drawn}.filter(each => !each.querySelector('.legendtext')).map(each => each.id)"))


def test_every_chart_has_a_legend(page: Page, page_of_jobs: Path) -> None:
    assert page.ask("document.querySelectorAll('.legendtext').length") > 14
    assert without_legend(page) == []
    assert "saturated or stalled" in page.texts("#chart-accepted .legendtext")
    assert "measured window" in page.texts("#chart-series .legendtext")
    single = Page(page.driver, page_of_jobs)
    assert without_legend(single) == []


def test_a_saturated_point_has_no_latency(page: Page, results: Results) -> None:
    over = [row for row, summary in enumerate(results.summaries) if summary["saturated"]]
    assert 0 < len(over) < len(results)
    heads = page.texts("#point-table thead th")
    place = next(number for number, head in enumerate(heads) if head.startswith("latency"))
    cells = page.texts(f"#point-table tbody td:nth-child({place + 1})")
    assert [row for row, cell in enumerate(cells) if cell == "sat"] == over
    assert page.texts("#point-words") == [
        "sat: saturated, the latency has no limit. !: per accepted bit, with an accepted load below the offered load."
    ]
    page.do("choosePoint(arguments[0])", over[0])
    assert (
        "Mean packet latency sat (saturated, the latency has no limit; in this window " in page.texts("#point-facts")[0]
    )


def test_no_number_is_written_with_an_exponent(page: Page, page_of_jobs: Path) -> None:
    page.do("view.tell({link: 0}, 0, 0)")
    assert re.search(r"energy\d[\d.]* [pnµ]J", page.texts("#network-tip")[0])
    text = "document.querySelector('main').innerText.replaceAll(/[0-9a-f]{7,}/g, '')"  # without hashes and commits
    assert not EXPONENT.search(page.ask(text))
    single = Page(page.driver, page_of_jobs)
    assert not EXPONENT.search(single.ask(text))


def test_large_powers_are_kilowatts(page: Page) -> None:
    page.do(
        "for (const name of Object.keys(report.curves[0].means)) if (name.startsWith('power_'))"
        " report.curves[0].means[name] = report.curves[0].means[name].map(() => 28365.18)"
    )
    page.do("curveCharts(report.curves[0])")
    assert page.ask("document.getElementById('chart-power-references').layout.yaxis.title.text") == "Mean power [kW]"
    assert page.ask("document.getElementById('chart-power-references').data[0].y[0]") == pytest.approx(28.36518)


def test_a_logarithmic_axis_has_labels(page: Page) -> None:
    for values in ([119, 140], [130, 131], [100, 100], [0.31, 0.9], [2, 90_000], [1e-6, 1], [0, 5]):
        axis = page.ask("logAxis(arguments[0])", values)
        low, high = (10**end for end in axis["range"])
        inside = [tick for tick in axis["tickvals"] if low * 0.999 <= tick <= high * 1.001]
        known = [value for value in values if value > 0]
        assert len(inside) == len(axis["ticktext"]) >= 2
        assert low <= min(known) * 1.001
        assert high >= max(known) * 0.999
        assert high / low < 30 * max(known) / min(known), "the values fill the axis"
    assert page.ask("logAxis([0, null])") == {}


@pytest.mark.parametrize(("name", "least"), [("light", 2.0), ("dark", 3.0)])
def test_all_colours_stand_out_from_the_ground(page: Page, name: str, least: float) -> None:
    scheme(page.driver, name)
    contrasts = (
        "['#000000', '#E69F00', ...report.curves.map(c => c.colour)].map(c => contrast(legible(c), css('--card')))"
    )
    assert min(page.ask(contrasts)) >= least
    assert min(page.ask("ramp(24).map(colour => contrast(colour, css('--card')))")) >= 2
    assert page.ask("new Set(ramp(24)).size") > 10
    assert page.ask("contrast(css('--off'), css('--card'))") >= 2


def test_links_of_low_use_are_reported_from_unused_ones(page: Page) -> None:
    choose = "byId('network-colour').value = arguments[0]"
    show = f"{choose}; view.use = view.use.map((_, k) => arguments[1][k % 3]); view.paint()"
    used = "view.canvas.styles.filter((_, k) => view.canvas.both.begins[k + 1] > view.canvas.both.begins[k])"
    page.do(show, "utilisation", [0, 1e-4, 1])
    assert page.ask(f"new Set({used}.map(style => style.colour)).size") == 3
    assert "not used: " in page.texts("#network-legend")[0]
    page.do(show, "log", [1e-3, 1e-2, 1])
    assert page.ask(f"new Set({used}.map(style => style.colour)).size") == 3, "decades are told apart"


def test_charts_follow_the_colours_of_the_system(page: Page) -> None:
    ink = "document.getElementById('chart-accepted').layout.font.color"
    assert page.ask(ink) == "#1d2430"
    scheme(page.driver, "dark")
    assert page.ask("new Promise(done => setTimeout(() => done(css('--ink')), 200))") == "#e6e9ee" == page.ask(ink)
    line = "document.getElementById('chart-cdf').data[0].line.color"
    assert page.ask(line) == page.ask("legible('#0072B2')")


def test_paper_is_light_and_everything_fits_on_it(page: Page) -> None:
    scheme(page.driver, "dark")
    page.do("dispatchEvent(new Event('beforeprint'))")
    assert page.ask("document.getElementById('chart-accepted').layout.font.color") == "#1d2430"
    room = page.ask("document.querySelector('main').clientWidth")
    assert room <= 700
    widths = page.ask(
        "Array.from(document.querySelectorAll('.scroll table, .chart:not([hidden]) svg.main-svg'),"
        " each => each.getBoundingClientRect().width)"
    )
    assert max(widths) <= room + 1
    # Chromium repeats the heading of a table on each printed page only if the heading's buttons have no box of their
    # own
    displays = "Array.from(document.querySelectorAll('#point-table thead button'), e => getComputedStyle(e).display)"
    assert set(page.ask(displays)) == {"contents"}
    page.do("dispatchEvent(new Event('afterprint'))")
    assert page.ask("document.getElementById('chart-accepted').layout.font.color") == "#e6e9ee"
    pdf = base64.b64decode(page.driver.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert pdf.startswith(b"%PDF")


def test_a_wide_table_scrolls_in_its_own_box(page: Page) -> None:
    names = page.texts("#point-table tbody td:first-child")
    assert names == ["always_on", "always_on", "idle_timeout", "idle_timeout"]
    full = page.ask("document.querySelectorAll('#point-table tbody td:first-child')[2].title")
    assert full == "idle_timeout(idle 20cycles, transition 10cycles)"
    size = {"width": 600, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        box = "(({scrollWidth, clientWidth}) => scrollWidth - clientWidth)"
        assert page.ask(f"{box}(document.querySelector('#point-table .scroll'))") > 0
        assert page.ask(f"{box}(document.documentElement)") <= 0
        charts = "Array.from(document.querySelectorAll('.chart:not([hidden]) svg.main-svg'), each => each.clientWidth)"
        assert max(page.ask(f"new Promise(done => setTimeout(() => done({charts}), 300))")) <= 600
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_utilisation_above_one_is_explained(page: Page) -> None:
    rows = "report.listings.find(({name}) => name == 'link_classes').rows[0]"
    change = f"{rows}.forEach(row => {{ row.utilisation_max = arguments[0] }}); choosePoint(0)"
    page.do(change, 0.9)
    assert not page.find("#utilisation-note").is_displayed()
    page.do(change, 1.0575)
    assert page.find("#utilisation-note").is_displayed()


def test_jobs_and_link_classes_are_tables(page: Page, page_of_jobs: Path) -> None:
    assert page.ask("document.getElementById('jobs-table').children.length") == 0, "one job says what the point says"
    single = Page(page.driver, page_of_jobs)
    assert single.texts("#jobs-table tbody td:first-child") == ["steady", "burst"]
    assert single.texts("#link_classes-table tbody td:first-child") == ["terminal", "dim0"]
    heads = single.texts("#link_classes-table thead th")
    assert re.fullmatch(r"energy[munp\u00b5]J", heads[-1])


def test_numbers_of_flawed_points_have_the_marks_of_the_run_table(page: Page, results: Results) -> None:
    over = [row for row, summary in enumerate(results.summaries) if summary["saturated"]]
    heads = page.texts("#point-table thead th")
    place = next(number for number, head in enumerate(heads) if head.startswith("energy"))
    marks = page.texts(f"#point-table tbody td:nth-child({place + 1}) .mark")
    assert [row for row, mark in enumerate(marks) if mark == "!"] == over
    page.do("report.points.columns.mark = ['~', '?', '', '']; showPoints()")
    for name in ("accepted", "latency", "p99", "energy", "power"):
        place = next(number for number, head in enumerate(heads) if head.startswith(name))
        cells = page.texts(f"#point-table tbody td:nth-child({place + 1})")
        assert [cell[-1] for cell in cells[:2] if cell != "sat"] in (["~", "?"], ["~"]), name
    assert "~: measured before the network had settled." in page.texts("#point-words")[0]
    page.do("choosePoint(0)")
    assert "(measured before the network had settled)" in page.texts("#point-facts")[0]


def test_the_phases_of_all_points_stand_beside_each_other(
    driver: webdriver.Chrome, tmp_path_factory: pytest.TempPathFactory
) -> None:
    phases = {"traffic.phases": [{"from": "200cycles", "load": 0.9}, {"from": "300cycles", "load": 0.05}]}
    sets = phases | {"sweep.traffic.load": [0.05], "traffic.pattern": "uniform"}
    shown = Page(
        driver, weft.load(SLEEPING, overrides=sets).run(out=tmp_path_factory.mktemp("phases") / "out").report()
    )
    assert without_legend(shown) == []
    for name in ("accepted", "latency", "power"):
        words = shown.texts(f"#chart-phases-{name} .legendtext")
        assert {"always_on", "idle_timeout"} <= set(words), name
    assert not shown.find("#over-load").is_displayed(), "one load each is no curve over the load"
    assert shown.complaints() == []


def test_a_latency_line_has_a_gap_where_a_point_is_saturated(page: Page) -> None:
    page.do(
        "report.curves[0].over = [false, true]; report.curves[0].load.push(0.95); report.curves[0].over.push(false);"
        " for (const name of Object.keys(report.curves[0].means)) report.curves[0].means[name].push(0.95);"
        " report.curves[0].points.push([0]); report.curves[0].flaw.push(''); loadCharts(shownPanel)"
    )
    (line,) = page.ask(
        "document.getElementById('chart-latency').data.filter(t => t.mode == 'lines' && t.x.length == 3)"
    )
    assert [value is None for value in line["y"]] == [False, True, False]


def test_words_of_the_picture_of_a_bill_are_not_cut() -> None:
    name = "tcep(activation_epoch 250cycles, deactivation_epoch 1000cycles, wake 120cycles, high_water 0.75), ugal_p"
    panels = {f"uniform, {name}": {name: [1.0, 2.0]}, "tornado": {"always_on": [2.0, 2.0]}}
    whole = bill_picture.svg(panels, [0.0, 12.0, 24.0], "day")
    width, height = (float(each) for each in re.findall(r'viewBox="0 0 (\S+) (\S+)"', whole)[0])
    for x, y in re.findall(r"translate\((-?[\d.]+) (-?[\d.]+)\) scale", whole):
        assert 0 <= float(x) <= width, "a line of text begins inside"
        assert 0 <= float(y) <= height
    lines = bill_picture._fitted(name, 7, 3.0).splitlines()
    assert len(lines) > 1
    assert " ".join(lines) == name
