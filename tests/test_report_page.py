"""Tests reports in a browser: charts, the film of the network, texts, and speed."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import polars as pl
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

import weft
from browser import Page, browser

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from selenium import webdriver

    from weft.api.results import Results

SLEEPING = """\
topology: {hyperx: {widths: [3, 3], terminals_per_router: 2}}
routing: dimension_order
traffic: {pattern: uniform, packet: 2flits}
measure: {warmup: 300cycles, window: 600cycles, series: {every: 50cycles, of: channel}, transient: {bin: 50cycles}}
sweep:
  traffic.pattern: [uniform, tornado]
  power.policy: [always_on, {idle_timeout: {idle: 20cycles, transition: 10cycles}}]
  traffic.load: [0.05, 0.2, 0.9]
"""

# A large torus: 15^3 routers, with 3 links per router.
LARGE = """\
topology: {torus: {widths: [15, 15, 15], terminals_per_router: 1}}
links: {default: {latency: 2cycles, vcs: 2, buffer: 4flits}}
routing: dimension_order
traffic: {pattern: uniform, load: 0.1}
measure: {warmup: 20cycles, window: 50cycles, drain_limit: 500cycles}
"""

CHARTS = {
    "chart-accepted": "Accepted load [flits/terminal/cycle]",
    "chart-latency": "Mean packet latency [cycles]",
    "chart-latency-accepted": "Mean packet latency [cycles]",
    "chart-energy": "Energy per delivered bit [pJ/bit]",
    "chart-percentiles": "Packet latency [cycles]",
    "chart-residency": "Share of the window",
    "chart-energy-references": "Energy per delivered bit [pJ/bit]",
    "chart-power-references": "Mean power [W]",
    "chart-cdf": "Share of packets up to this latency",
    "chart-ccdf": "Share of packets above this latency",
    "chart-hops": "Share of packets",
    "chart-channels": "Utilisation [share of bandwidth]",
    "chart-series": "Mean utilisation [share of bandwidth]",
    "chart-transient": "Packet latency [cycles]",
}


@pytest.fixture(scope="module")
def driver() -> Iterator[webdriver.Chrome]:
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("page")
    (folder / "sleeping.yaml").write_text(SLEEPING, encoding="utf-8")
    return weft.load(folder / "sleeping.yaml").run(out=folder / "out")


@pytest.fixture
def page(driver: webdriver.Chrome, results: Results) -> Iterator[Page]:
    shown = Page(driver, results.report())
    yield shown
    assert shown.complaints() == []


def traces(page: Page, chart: str) -> list[dict[str, object]]:
    """Return the series of a chart that have data, as Plotly stores them."""
    wanted = "({name, x: Array.from(x), y: Array.from(y), symbol: marker?.symbol, mode})"
    # series without data exist only to explain marks in the legend
    with_data = f"document.getElementById('{chart}').data.filter(({{x}}) => x[0] !== null)"
    expression = f"{with_data}.map(({{name, x, y, marker, mode}}) => {wanted})"
    return list(page.ask(expression))


def test_all_charts_are_drawn_with_units(page: Page) -> None:
    for chart, axis in CHARTS.items():
        assert page.ask(f"document.querySelectorAll('#{chart} .main-svg').length") > 0, chart
        assert page.ask(f"document.getElementById('{chart}').layout.yaxis.title.text") == axis
        assert page.ask(f"document.querySelectorAll('#{chart} .trace').length") > 0, chart


# For each chart whose axes have other labels on a page in SI units: labels of the horizontal and vertical axis.
SI_AXES = {
    "chart-accepted": ("Offered load [Gb/s per terminal]", "Accepted load [Gb/s per terminal]"),
    "chart-latency": ("Offered load [Gb/s per terminal]", "Mean packet latency [us]"),
    "chart-latency-accepted": ("Accepted load [Gb/s per terminal]", "Mean packet latency [us]"),
    "chart-energy": ("Offered load [Gb/s per terminal]", CHARTS["chart-energy"]),
    "chart-percentiles": ("Offered load [Gb/s per terminal]", "Packet latency [us]"),
    "chart-residency": ("Offered load [Gb/s per terminal]", CHARTS["chart-residency"]),
    "chart-power-references": ("Offered load [Gb/s per terminal]", CHARTS["chart-power-references"]),
    "chart-cdf": ("Packet latency [us]", CHARTS["chart-cdf"]),
    "chart-ccdf": ("Packet latency [us]", CHARTS["chart-ccdf"]),
    "chart-series": ("Time [us]", CHARTS["chart-series"]),
    "chart-transient": ("Time of creation [us]", "Packet latency [us]"),
}


def test_all_charts_are_in_the_units_of_the_page(driver: webdriver.Chrome, results: Results, tmp_path: Path) -> None:
    """On a page in SI units, no chart has cycles or flits.

    A cycle is 1 ns, and a flit has 48 bits, so a flit per cycle is 48 Gb/s.
    """
    shown = Page(driver, results.report(tmp_path / "page.html", units="si"))
    axes = "[layout.xaxis.title.text, layout.yaxis.title.text]"
    for chart in CHARTS:
        titles = tuple(shown.ask(f"(({{layout}}) => {axes})(document.getElementById('{chart}'))"))
        assert titles == SI_AXES.get(chart, titles), chart
        assert not any("[cycles]" in title or "flits/terminal" in title for title in titles), chart
    uniform = results.frame.filter(pl.col("traffic.pattern") == "uniform")
    markers = [trace for trace in traces(shown, "chart-latency-accepted") if trace["mode"] == "markers"]
    steady = [trace for trace in markers if not str(trace["symbol"]).endswith("-open") and trace["symbol"] != "x-thin"]
    drawn = sorted((x, y) for trace in steady for x, y in zip(trace["x"], trace["y"], strict=True))  # type: ignore[call-overload]
    loads, latencies = uniform["accepted_load"] * 48, uniform["packet_latency_mean_cycles"] / 1000
    kept = [not over for over in uniform["saturated"]]
    files = sorted(pair for pair, steady in zip(zip(loads, latencies, strict=True), kept, strict=True) if steady)
    assert len(drawn) == len(files) > 0
    for one, other in zip(drawn, files, strict=True):
        assert one == pytest.approx(other, rel=1e-5)
    # the window of 600 cycles begins after 300 cycles, and two lines mark its ends
    edges = shown.ask("document.getElementById('chart-series').layout.shapes.map(({x0}) => x0)")
    assert edges == pytest.approx([0.3, 0.9])
    shown.do("choosePoint(0)")
    Select(shown.find("#network-when")).select_by_value("film")
    assert shown.texts("#network-time") == ["0 to 0.05 us (warm-up)"]
    assert shown.complaints() == []


def test_charts_show_the_numbers_of_the_files(page: Page, results: Results) -> None:
    markers = [trace for trace in traces(page, "chart-accepted") if trace["mode"] == "markers"]
    shown = sorted((x, y) for trace in markers for x, y in zip(trace["x"], trace["y"], strict=True))  # type: ignore[call-overload]
    uniform = results.frame.filter(pl.col("traffic.pattern") == "uniform")
    files = sorted(zip(uniform["offered_load"], uniform["accepted_load"], strict=True))
    assert len(shown) == len(files) == 6
    for one, other in zip(shown, files, strict=True):
        assert one == pytest.approx(other, rel=1e-6)


def test_names_are_no_html(driver: webdriver.Chrome, results: Results, tmp_path: Path) -> None:
    """The page shows a name that looks like an HTML tag, or like an escaped tag, as written."""
    named = copy.copy(results)
    named.__dict__.pop("frame", None)
    names = {"always_on": "<b>bold</b> &lt; a", "idle_timeout": "<a href='x'>b</a>"}
    named.points = copy.deepcopy(results.points)
    for each in named.points:
        policy = each["coordinates"]["power.policy"]
        each["coordinates"]["power.policy"] = names[policy if isinstance(policy, str) else next(iter(policy))]
    shown = Page(driver, named.report(tmp_path / "page.html"))
    assert shown.texts("#chart-accepted .legendtext")[1:3] == list(names.values())
    assert not shown.texts("#chart-accepted .legendtext a")
    assert shown.complaints() == []


def test_shares_stand_in_the_table_in_per_cent(page: Page, results: Results) -> None:
    heads = page.texts("#point-table thead th")
    place = heads.index("off%") + 1
    cells = page.texts(f"#point-table tbody td:nth-child({place})")
    assert [float(cell) for cell in cells] == pytest.approx(
        [100 * x for x in results.frame["links_off_share"]], abs=0.05
    )


def test_saturated_points_are_hollow_and_latency_lines_end_before(page: Page, results: Results) -> None:
    page.do(
        "Array.from(document.querySelectorAll('#panel-controls button')).find(b => b.textContent == 'tornado').click()"
    )
    tornado = results.frame.filter(pl.col("traffic.pattern") == "tornado")
    over = tornado.filter(pl.col("saturated"))
    assert 0 < over.height < tornado.height
    drawn = traces(page, "chart-latency")
    hollow = [x for trace in drawn if str(trace["symbol"]).endswith("-open") for x in trace["x"]]  # type: ignore[attr-defined]
    assert sorted(hollow) == pytest.approx(sorted(over["offered_load"]), rel=1e-6)
    ends = [max(trace["x"]) for trace in drawn if trace["mode"] == "lines"]  # type: ignore[call-overload]
    assert max(ends) == pytest.approx(tornado.filter(~pl.col("saturated"))["offered_load"].max(), rel=1e-6)


def test_a_click_on_a_row_shows_the_point(page: Page, results: Results) -> None:
    page.do("document.querySelectorAll('#point-table tbody tr')[4].click()")
    assert page.ask("document.getElementById('point-select').value") == "4"
    latency = f"{results.summaries[4]['packet_latency_mean_cycles']:.1f}"
    assert f"Mean packet latency {latency} cycles" in page.texts("#point-facts")[0]
    assert page.ask(
        "document.querySelector('#point-table tr.chosen') == document.querySelectorAll('#point-table tbody tr')[4]"
    )


def test_tables_sort_by_a_click_and_by_a_key(page: Page, results: Results) -> None:
    heads = page.texts("#point-table thead button")
    place = next(number for number, head in enumerate(heads) if head.startswith("latency"))
    cells = f"#point-table tbody td:nth-child({place + 1})"
    before = page.texts(cells)
    button = page.driver.find_elements("css selector", "#point-table thead button")[place]
    button.send_keys(Keys.ENTER)
    steady = results.frame.filter(~pl.col("saturated"))
    expected = [f"{value:.1f}" for value in sorted(steady["packet_latency_mean_cycles"])]
    endless = ["sat"] * (len(results) - steady.height)
    assert endless
    assert page.texts(cells) == expected + endless != before
    button.send_keys(Keys.SPACE)
    assert page.texts(cells) == expected[::-1] + endless, "what has no limit is no number, and last in either order"
    assert page.texts("#point-table th[aria-sort=descending] button")[0].startswith("latency")


def test_rows_are_chosen_by_keys(page: Page) -> None:
    row = page.find("#point-table tbody tr")
    row.send_keys(Keys.ARROW_DOWN)
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert page.ask("document.getElementById('point-select').value") == "1"
    assert page.ask("document.querySelectorAll('#point-table tr[tabindex=\"0\"]').length") == 1, "one stop for Tab"


def test_the_slider_moves_by_keys_and_changes_the_drawing(page: Page, results: Results) -> None:
    sleeping = next(row for row, summary in enumerate(results.summaries) if summary["links_off_share"] > 0.1)
    page.do("choosePoint(arguments[0])", sleeping)
    assert not page.find("#network-slider").is_displayed(), "the window as a whole comes first"
    whole = page.pixels()
    Select(page.find("#network-when")).select_by_value("film")
    Select(page.find("#network-colour")).select_by_value("state")
    first = page.pixels()
    assert first != whole
    slider = page.find("#network-slider")
    seen = {first}
    for step in range(1, 6):
        slider.send_keys(Keys.ARROW_RIGHT)
        assert page.texts("#network-time") == [f"cycles {50 * step} to {50 * step + 50} (warm-up)"]
        seen.add(page.pixels())
    assert len(seen) > 3
    row = results.series(sleeping).filter(pl.col("from_cycle") == 250)
    channels = results.channels(sleeping).filter(pl.col("link_class") != "terminal")["channel"]
    off = row.filter(pl.col("channel").is_in(channels.to_list()))["channels_off"].sum()
    assert f"off: {off} channels" in page.texts("#network-legend > span")


def test_the_film_plays_and_stops(page: Page) -> None:
    page.do("choosePoint(3)")
    Select(page.find("#network-when")).select_by_value("film")
    # the test starts and stops the film in a single call: on a slow machine the film would end before a second call,
    # and the button would start it again
    stopped = page.ask(
        """new Promise(done => {
            const [slider, play] = ['network-slider', 'network-play'].map(name => document.getElementById(name));
            play.click();
            const wait = setInterval(() => {
                if (Number(slider.value) < 2) return;
                clearInterval(wait);
                play.click();
                done(Number(slider.value));
            }, 10);
        })"""
    )
    assert stopped >= 2
    later = "new Promise(done => setTimeout(() => done(Number(document.getElementById('network-slider').value)), 600))"
    assert page.ask(later) == stopped


def test_hovering_tells_both_directions_of_a_link(page: Page, results: Results) -> None:
    page.do("choosePoint(4); document.getElementById('network-stage').scrollIntoView()")
    forward, backward = page.ask("[view.channelNumber(0), view.channelNumber(view.network.links)]")
    x, y = page.ask(
        "(([x1, y1, cx, cy, x2, y2]) => [(x1 + x2) / 4 + cx / 2, (y1 + y2) / 4 + cy / 2])(view.canvas.curve(0))"
    )
    canvas = page.find("#network-canvas")
    middle = canvas.size["width"] / 2, canvas.size["height"] / 2
    ActionChains(page.driver).move_to_element_with_offset(canvas, round(x - middle[0]), round(y - middle[1])).perform()
    by_name = {
        row[0]: row[1:]
        for row in page.ask(
            "Array.from(document.querySelectorAll('#network-tip tr'), r => Array.from(r.children, c => c.textContent))"
        )
    }
    table = results.channels(4)
    assert by_name["channel"] == [str(forward), str(backward)]
    ends = [table.row(channel, named=True) for channel in (forward, backward)]
    assert by_name["router"] == [
        f"{end['from_router']} port {end['from_port']} \u2192 {end['to_router']} port {end['to_port']}" for end in ends
    ]
    assert by_name["flits in the window"] == [str(end["flits"]) for end in ends]
    assert by_name["utilisation [share of bandwidth]"] == [f"{end['utilisation']:.4f}" for end in ends]
    assert by_name["transitions"] == [str(end["transitions"]) for end in ends]


def test_hovering_tells_what_a_router_did(page: Page, results: Results) -> None:
    page.do("choosePoint(0); document.getElementById('network-stage').scrollIntoView()")
    page.do("view.canvas.hover(...view.canvas.place(5))")
    by_name = {
        row[0]: row[1]
        for row in page.ask(
            "Array.from(document.querySelectorAll('#network-tip tr'), r => Array.from(r.children, c => c.textContent))"
        )
    }
    sent = results.channels(0).filter((pl.col("from_router") == 5) & pl.col("to_router").is_not_null())["flits"].sum()
    assert by_name["terminals"] == "2"
    assert by_name["links to routers"] == "4"
    assert by_name["flits sent over them"] == str(sent)


def test_the_drawing_zooms_and_moves_by_keys(page: Page) -> None:
    canvas = page.find("#network-canvas")
    start = page.ask("view.canvas.scale")
    canvas.send_keys("+")
    canvas.send_keys(Keys.ARROW_LEFT)
    assert page.ask("view.canvas.scale") == pytest.approx(1.4 * start)
    canvas.send_keys("0")
    assert page.ask("view.canvas.scale") == pytest.approx(start)


def test_a_narrow_window_has_nothing_beside_it(driver: webdriver.Chrome, results: Results) -> None:
    driver.set_window_size(520, 900)
    try:
        page = Page(driver, results.report())
        assert page.ask("document.documentElement.scrollWidth <= window.innerWidth")
        assert page.complaints() == []
    finally:
        driver.set_window_size(1280, 960)


def test_a_stall_is_reported_in_words(driver: webdriver.Chrome, ring: object) -> None:
    stuck = weft.load(str(ring)).run(out=f"{ring}.out")
    page = Page(driver, stuck.report())
    page.do("choosePoint(1)")
    assert page.texts("#point-stall pre") == [stuck.stalls[0][1]]
    waiting = len(stuck.summaries[1]["stall_wait_for"])
    assert page.texts("#network-legend > span")[0].endswith(f"the {waiting} queues of the wait-for cycle")
    emphasised = "Array.from(view.canvas.both.begins.slice(1, 3))"
    begin, end = page.ask(emphasised)
    assert end - begin == waiting, "a channel of the ring leads to each"
    assert page.complaints() == []


def test_a_network_without_links_between_routers_is_said_to_have_none(
    driver: webdriver.Chrome, tmp_path_factory: pytest.TempPathFactory
) -> None:
    scenario = {
        "topology": {"single_router": {"terminals": 4}},
        "routing": "shortest_path",
        "traffic": {"pattern": "uniform", "load": 0.1},
        "measure": {"warmup": "100cycles", "window": "200cycles"},
    }
    page = Page(driver, weft.load(scenario).run(out=tmp_path_factory.mktemp("single") / "out").report())
    assert "nothing to draw" in page.texts("#network-note")[0]
    assert not page.find("#network").is_displayed()
    assert page.complaints() == []


def test_ten_thousand_links_stay_usable(driver: webdriver.Chrome, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("large")
    (folder / "large.yaml").write_text(LARGE, encoding="utf-8")
    page = Page(driver, weft.load(folder / "large.yaml").run(out=folder / "out").report())
    assert page.ask("view.network.links") == 3 * 15**3
    assert page.complaints() == []
    # The test reads a pixel, because reading waits until the drawing is complete. A frame takes about 30 ms on an idle
    # machine.
    times = page.ask(
        "Array.from({length: 9}, () => { const began = performance.now(); view.canvas.draw();"
        " view.canvas.base.getContext('2d').getImageData(0, 0, 1, 1); return performance.now() - began; })"
    )
    assert sorted(times)[4] < 500
    found = page.ask("[performance.now(), view.canvas.under(300, 300), performance.now()]")
    assert found[2] - found[0] < 100
