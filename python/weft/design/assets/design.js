"use strict";
// Draws the charts of a page about designs of networks. The functions compute nothing: they draw numbers from the
// page's data.

const DATA = JSON.parse(document.getElementById("data").textContent);
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5195", "#8c8c8c", "#b8860b", "#2f4b7c"];
const DASHES = ["solid", "dash", "dot", "dashdot", "longdash"];
const SYMBOLS = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x"];
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
// Escapes a text, because Plotly interprets HTML tags and entities in names.
const plain = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
const colour = (number) => COLOURS[number % COLOURS.length];
const short = (text) => (text.length > 28 ? `${text.slice(0, 27)}…` : text);

function draw(id, title, x, y, traces, layout = {}) {
  const place = document.getElementById(id);
  if (!place) return;
  const axis = { gridcolor: css("--grid"), linecolor: css("--dim"), zeroline: false, ticks: "outside", tickcolor: css("--dim"), automargin: true, separatethousands: true };
  const rows = Math.ceil(traces.filter((trace) => trace.name && trace.showlegend !== false).length / 3);
  place.style.height = `${380 + 20 * rows}px`;
  Plotly.react(place, traces, {
    title: { text: title, x: 0.02, xanchor: "left", y: 1, yanchor: "top", pad: { t: 12 }, font: { size: 15 } },
    font: { family: "system-ui, sans-serif", size: 12.5, color: css("--ink") },
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    margin: { l: 64, r: 18, t: 50 + 20 * rows, b: 48 },
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: css("--dim"), activecolor: css("--accent") },
    showlegend: rows > 0, separators: ".,", width: place.clientWidth, height: place.clientHeight,
    ...layout,
    xaxis: { ...axis, title: { text: x }, ...layout.xaxis },
    yaxis: { ...axis, title: { text: y }, rangemode: "tozero", ...layout.yaxis },
  }, { displaylogo: false, displayModeBar: "hover", modeBarButtonsToRemove: ["lasso2d", "select2d"] });
}

function ofDesigns(key) {
  return DATA.designs.map((each) => each.row[key]);
}

function bars(id, title, unit, parts) {
  const names = DATA.designs.map((each) => plain(short(each.name)));
  const traces = parts.map(([key, words], number) => ({ type: "bar", name: words, x: names, y: ofDesigns(key), marker: { color: colour(number) } }));
  draw(id, title, "", unit, traces, { barmode: id === "cost" ? "stack" : "group", xaxis: { type: "category" } });
}

function curves(id, title, x, y, of, layout) {
  draw(id, title, x, y, DATA.designs.map((each, number) => ({
    type: "scatter", mode: "lines+markers", name: plain(short(each.name)), ...of(each, number),
    line: { color: colour(number), dash: DASHES[Math.floor(number / COLOURS.length) % DASHES.length] },
    marker: { color: colour(number), symbol: SYMBOLS[number % SYMBOLS.length], size: 7 },
  })), layout);
}

function failures(each, number) {
  const rows = each.failures;
  const share = rows.connected_share;
  return {
    x: rows.failed_share.map((value) => 100 * value), y: share,
    error_y: { type: "data", symmetric: false, array: rows.connected_high_share.map((high, at) => high - share[at]), arrayminus: rows.connected_low_share.map((low, at) => share[at] - low), color: colour(number), thickness: 1, width: 2 },
  };
}

function distances(each) {
  const pairs = each.distances.terminal_pairs;
  const all = pairs.reduce((sum, value) => sum + value, 0) || 1;
  return { x: each.distances.hops, y: pairs.map((value) => (100 * value) / all) };
}

function cables(each) {
  let sum = 0;
  const total = each.cables.links.reduce((all, value) => all + value, 0) || 1;
  return { x: each.cables.metres, y: each.cables.links.map((value) => (100 * (sum += value)) / total), mode: "lines" };
}

// Draws the candidates of a search, with a colour per topology, and larger markers for those on the Pareto front.
function candidates(id, title, key, unit) {
  const found = DATA.candidates;
  if (!found) return;
  const kinds = [...new Set(found.topology.map((text) => text.split(/[ {:(]/)[0]))];
  const traces = kinds.flatMap((kind, number) => [false, true].map((front) => {
    const at = found.topology.map((text, place) => place).filter((place) => found.topology[place].split(/[ {:(]/)[0] === kind && found.on_front[place] === front);
    return {
      type: "scatter", mode: "markers", name: kind, legendgroup: kind, showlegend: front || !found.topology.some((text, place) => found.on_front[place] && text.startsWith(kind)),
      x: at.map((place) => found[key][place]), y: at.map((place) => found.bisection_links[place]),
      text: at.map((place) => plain(`${found.topology[place]}<br>diameter ${found.diameter_hops[place]}`).replaceAll("&lt;br>", "<br>")), hovertemplate: "%{text}<br>%{x}, %{y} links<extra></extra>",
      marker: { color: colour(number), symbol: SYMBOLS[number % SYMBOLS.length], size: front ? 11 : 4, opacity: front ? 1 : 0.35, line: { width: front ? 1 : 0, color: css("--ink") } },
    };
  })).filter((trace) => trace.x.length);
  draw(id, title, unit, "Bisection [links]", traces, { xaxis: { type: "log" }, yaxis: { type: "log", rangemode: "normal" } });
}

function all() {
  candidates("front-cost", "Candidates by cost: large marks are on the front", "cost_usd", "Cost [$]");
  candidates("front-power", "Candidates by power: large marks are on the front", "power_w", "Power [W]");
  bars("cost", "Cost", "Cost [$]", [["cost_routers_usd", "routers"], ["cost_cables_usd", "cables between routers"], ["cost_terminal_cables_usd", "cables of terminals"]]);
  const trade = (each) => ({ x: [each.row.cost_per_terminal_usd], y: [each.row.power_per_terminal_w], mode: "markers" });
  curves("trade", "Cost and power of a terminal", "Cost [$/terminal]", "Power [W/terminal]", trade, { xaxis: { rangemode: "tozero" } });
  curves("failures", `Links that fail at random (${Math.round(100 * DATA.confidence)} % intervals)`, "Failed links [%]", "Share of trials that stay connected", failures, { yaxis: { range: [0, 1.05] } });
  curves("distances", "Distance between terminals", "Distance of their routers [hops]", "Pairs of terminals [%]", distances, { xaxis: { dtick: 1 } });
  curves("cables", "Cables up to a length", "Length [m]", "Cables between routers [%]", cables, { xaxis: { rangemode: "tozero" } });
  bars("bisection", "Bisection", "Links between two halves", [["bisection_links", "at most"], ["bisection_low_links", "at least"], ["bisection_formula_links", "by formula"], ["bisection_partition_links", "by METIS"]]);
}

all();
addEventListener("resize", all);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", all);
