"use strict";
// Draws the charts of a report. Each function draws one chart from the data of the page, or hides the chart if nothing
// was measured for it.

// Quantities of the axes, in the units of the page (cycles and flits, or SI units).
const SHOWN = report.shown;
const OFFERED = axisTitle(SHOWN.offered);
const TIME = `Time [${SHOWN.time}]`;
const PACKET_LATENCY = `Packet latency [${SHOWN.time}]`;

// Converts a number of cycles of a point to the unit of time of the page.
function inTime(point, cycles) {
  return SHOWN.si ? cycles * valueOf("cycle_seconds", point) * 1e6 : cycles;
}

// Converts a load of a point [flits/terminal/cycle] to the unit of loads of the page.
function inLoad(point, load) {
  return SHOWN.si && typeof load === "number" ? (load * valueOf("flit_bits", point)) / valueOf("cycle_seconds", point) / 1e9 : load;
}

// Escapes a text for Plotly, which interprets HTML tags and entities in names.
function plain(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

const drawnSeries = (traces) => traces.filter((trace) => trace.name && trace.showlegend !== false);

function draw(id, title, x, y, traces, layout = {}) {
  const place = byId(id);
  place.hidden = !traces.length;
  if (!traces.length) return;
  const axis = { gridcolor: css("--grid"), linecolor: css("--dim"), zeroline: false, ticks: "outside", tickcolor: css("--dim"), automargin: true, exponentformat: "none", separatethousands: true };
  const named = drawnSeries(traces);
  const [letter, line] = printing() ? [5.3, 19] : [7, 20];
  const rows = legendRows(named, letter, place.clientWidth - 90);
  // If the legend has many rows, the chart is made higher, so that its plot stays as large.
  place.style.height = `calc(var(--chart-height) + ${line * Math.max(0, rows - 2)}px)`;
  const merged = {
    title: { text: title, x: 0.02, xanchor: "left", y: 1, yanchor: "top", pad: { t: 12 }, font: { size: printing() ? 12 : 15 } },
    font: { family: "system-ui, sans-serif", size: printing() ? 9.5 : 12.5, color: css("--ink") },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    margin: { l: 64, r: 18, t: 46 + line * rows, b: 48 },
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0, tracegroupgap: 0, font: { size: printing() ? 9 : 12 } },
    showlegend: rows > 0,
    separators: ".\u2009",
    modebar: { bgcolor: "rgba(0,0,0,0)", color: css("--dim"), activecolor: css("--accent") },
    hoverlabel: { align: "left" },
    width: place.clientWidth,
    height: place.clientHeight,
    uirevision: title, // keeps the user's zoom if the same chart is drawn again
    ...layout,
    xaxis: { ...axis, title: { text: x }, ...layout.xaxis },
    yaxis: { ...axis, title: { text: y }, rangemode: "tozero", ...layout.yaxis },
  };
  Plotly.react(place, traces, merged, { displaylogo: false, displayModeBar: matchMedia("(hover: hover)").matches ? "hover" : false, modeBarButtonsToRemove: ["lasso2d", "select2d"] });
  if (!place.dataset.listens) {
    place.dataset.listens = "yes";
    place.on("plotly_click", (event) => {
      const chosen = event.points.map((each) => each.customdata).find(Number.isInteger);
      if (chosen !== undefined) choosePoint(chosen);
    });
  }
}

// Number of rows of a legend. Plotly makes all columns as wide as the widest entry, except if entries are in groups or
// in a single row.
function legendRows(named, letter, room) {
  const widths = named.map((trace) => 50 + letter * trace.name.length);
  const all = widths.reduce((sum, width) => sum + width, 0);
  if (all <= room) return Math.min(1, named.length);
  if (!named.some((trace) => trace.legendgroup)) return Math.ceil(named.length / Math.max(1, Math.floor(room / Math.max(...widths))));
  let [rows, taken] = [1, 0];
  for (const width of widths) {
    if (taken && taken + width > room) [rows, taken] = [rows + 1, 0];
    taken += width;
  }
  return rows;
}

// A trace without data, for an entry of the legend that explains a line, a marker or a bar.
function meaning(name, more) {
  return { x: [null], y: [null], type: "scatter", name, hoverinfo: "skip", ...more };
}

const SATURATED = "saturated or stalled";

// The traces of some curves, and legend entries for their hollow markers (saturated) and crosses (other flaws).
function withHollow(curves, traces) {
  const some = (wanted) => traces.length && curves.some((curve) => curve.over.some((over, place) => wanted(over, curve.flaw[place])));
  const hollow = meaning(SATURATED, { mode: "markers", marker: { symbol: "circle-open", size: 8, color: css("--ink"), line: { width: 2 } } });
  const cross = meaning("not settled, not judged, packets dropped or not measured", { mode: "markers", marker: flawedMarker() });
  return [...traces, ...(some((over) => over) ? [hollow] : []), ...(some((over, flaw) => flaw && !over) ? [cross] : [])];
}

function flawedMarker() {
  return { symbol: "x-thin", size: 9, line: { width: 1.5, color: css("--ink") } };
}

function quantity(name) {
  return report.columns.find((each) => each.column === name);
}

// The traces of a curve, with its look in all charts. Saturated points have hollow markers, and points with another
// flaw have a cross.
function curveTraces(curve, xs, ys, { line = curve.over.map(() => true), at = ys, unit = "", half = [] } = {}) {
  const look = { color: legible(curve.colour), symbol: curve.symbol, size: 8 };
  const name = plain(curve.label || report.title);
  const hover = `${name}<br>%{x:.4g}: %{text} ${unit}<extra></extra>`;
  const kept = (wanted) => curve.load.map((_, place) => place).filter((place) => wanted(place) && ys[place] !== null && xs[place] !== null);
  const pick = (places, values) => places.map((place) => values[place]);
  const trace = (places, more) => ({
    x: pick(places, xs), y: pick(places, at), text: pick(places, ys).map((value) => written(value)),
    customdata: pick(places, curve.points).map((points) => points[0]),
    legendgroup: curve.label, showlegend: false, hovertemplate: hover, type: "scatter", cliponaxis: false, ...more,
  });
  // if a point between others is left out, the line has a gap there
  const ends = [line.indexOf(true), line.lastIndexOf(true)];
  const inLine = kept((place) => ends[0] >= 0 && place >= ends[0] && place <= ends[1]);
  const steady = kept((place) => !curve.over[place]);
  const over = kept((place) => curve.over[place]);
  const flawed = steady.filter((place) => curve.flaw[place]);
  const made = [
    trace(inLine, { y: inLine.map((place) => (line[place] ? at[place] : null)), mode: "lines", line: { color: look.color, dash: curve.dash, width: 2 }, name, hoverinfo: "skip" }),
    trace(steady, { mode: "markers", marker: look, error_y: { array: pick(steady, half), visible: anyKnown(pick(steady, half)), thickness: 1.2, width: 3 }, name }),
    trace(flawed, { mode: "markers", marker: flawedMarker(), name: `${name} flawed`, hovertemplate: `${name}<br>%{x:.4g}: %{text} ${unit}<br>%{meta}<extra></extra>`, meta: [...new Set(flawed.map((place) => curve.flaw[place]))].join(", ") }),
    trace(over, { mode: "markers", marker: { ...look, symbol: `${curve.symbol}-open`, line: { width: 2 } }, name: `${name} ${SATURATED}` }),
  ].filter((each) => each.x.length);
  const key = meaning(name, { mode: "lines+markers", line: { color: look.color, dash: curve.dash, width: 2 }, marker: look, legendgroup: curve.label });
  return made.length ? [...made, key] : [];
}

function curvesOf(panel) {
  return report.curves.filter((curve) => curve.panel === panel);
}

function loadCharts(panel) {
  const curves = curvesOf(panel);
  if (comparesPhases()) phasesBeside(panel);
  // if loads change in phases and each curve has one load, there is nothing to show over load
  byId("over-load").hidden = comparesPhases() && curves.every((curve) => curve.load.length === 1);
  if (byId("over-load").hidden) return;
  const offered = curves.map((curve) => curve.means[SHOWN.offered.column]);
  const accepted = curves.map((curve) => curve.means[SHOWN.accepted.column]);
  const of = panel ? `, ${plain(panel)}` : "";
  const end = Math.max(...offered.flat());
  const diagonal = { x: [0, end], y: [0, end], mode: "lines", line: { color: css("--dim"), width: 1 }, name: "accepted = offered", hoverinfo: "skip" };
  const { column, unit } = SHOWN.accepted;
  draw("chart-accepted", `Accepted load${of}`, OFFERED, axisTitle(SHOWN.accepted),
    withHollow(curves, [diagonal, ...curves.flatMap((curve, k) => curveTraces(curve, offered[k], accepted[k], { unit, half: curve.half[column] }))]), { xaxis: { rangemode: "tozero" } });
  latencyChart("chart-latency", `Latency${of}`, OFFERED, curves, offered);
  latencyChart("chart-latency-accepted", `Latency over accepted load${of}`, axisTitle(SHOWN.accepted), curves, accepted);
  const energy = quantity("energy_per_bit_pj");
  draw("chart-energy", `Energy per bit${of}`, OFFERED, axisTitle(energy),
    withHollow(curves, curves.flatMap((curve, k) => curveTraces(curve, offered[k], curve.means[energy.column], { unit: energy.unit, half: curve.half[energy.column] }))),
    { xaxis: { rangemode: "tozero" }, yaxis: logAxis(curves.flatMap((curve) => curve.means[energy.column])) });
}

// A logarithmic axis that begins and ends at tick marks, so that it has at least two. The ticks are at round numbers,
// or only at powers of ten if the axis spans many of them.
function logAxis(values) {
  const known = values.filter((value) => value > 0);
  if (!known.length) return {};
  const [low, high] = extent(known);
  const decades = Math.log10(high / low);
  const far = decades > 4 || low < 1e-3 || high >= 1e6;
  const digits = far ? [1] : decades > 0.9 ? [1, 2, 5] : [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8];
  const powers = Array.from({ length: Math.floor(Math.log10(high)) - Math.floor(Math.log10(low)) + 3 }, (_, k) => Math.floor(Math.log10(low)) - 1 + k);
  const marks = powers.flatMap((power) => digits.map((digit) => Number(`${digit}e${power}`)));
  const from = marks.findLastIndex((mark) => mark <= low);
  const to = Math.max(marks.findIndex((mark) => mark >= high), from + 1);
  const ticks = marks.slice(from, to + 1);
  return {
    type: "log", rangemode: "normal", range: [Math.log10(ticks[0]) - 0.02 * decades, Math.log10(ticks.at(-1)) + 0.02 * decades],
    tickvals: ticks, ticktext: ticks.map((tick) => (far ? `10<sup>${Math.round(Math.log10(tick))}</sup>` : written(tick))),
  };
}

// Draws latencies. Lines end before the first saturated point; saturated points have markers at the upper edge.
function latencyChart(id, title, x, curves, xs) {
  const latency = SHOWN.latency;
  const values = curves.map((curve) => curve.means[latency.column]);
  const steady = curves.flatMap((curve, k) => values[k].map((value, place) => (value === null || curve.over[place] ? 0 : Math.max(1.15 * value, 1.03 * (value + (curve.half[latency.column][place] ?? 0))))));
  const top = Math.max(0, ...steady) || 1;
  const traces = curves.flatMap((curve, k) => curveTraces(curve, xs[k], values[k], {
    line: curve.over.map((over) => !over),
    at: values[k].map((value, place) => (curve.over[place] ? top : value)),
    unit: latency.unit, half: curve.half[latency.column],
  }));
  draw(id, title, x, axisTitle(latency), withHollow(curves, traces), { xaxis: { rangemode: "tozero" }, yaxis: { range: [0, top] } });
}

function curveCharts(curve) {
  const offered = curve.means[SHOWN.offered.column];
  const steady = curve.over.map((over) => !over);
  const shades = report.percentiles.map(([share, name]) => [`${share} %`, curve.means[name]]);
  const bands = shades.filter(([, values]) => anyKnown(values)).map(([words, values], k, all) => ({
    x: offered.filter((_, place) => steady[place]), y: values.filter((_, place) => steady[place]),
    name: `${words} of packets`, mode: "lines+markers", type: "scatter", fill: k ? "tonexty" : "none",
    fillcolor: shade(0.35 - (0.3 * k) / all.length), line: { color: shade(1 - (0.55 * k) / all.length) },
    marker: { symbol: ["circle", "square", "diamond", "triangle-up", "cross", "x"][k], size: 7 },
    hovertemplate: `${words}: %{y} ${SHOWN.time} at %{x:.4g}<extra></extra>`,
  }));
  draw("chart-percentiles", "Latency percentiles (points below saturation)", OFFERED, PACKET_LATENCY,
    steady.some(Boolean) ? bands : [], { xaxis: { rangemode: "tozero" } });
  const places = offered.map((_, place) => place);
  const labels = offered.map((load) => `${Number(load.toPrecision(3))}`);
  const shares = Object.entries(report.states).map(([state, colour]) => [state, colour, curve.means[`links_${state}_share`]]);
  draw("chart-residency", "Power states of the managed links", OFFERED, "Share of the window",
    shares.filter(([, , values]) => values.some((value) => value)).map(([state, colour, values]) => ({
      x: places, text: labels, textposition: "none", y: values, name: state, type: "bar", marker: { color: stateColour(state, colour), pattern: { shape: report.state_patterns[state] } },
      hovertemplate: `${state}: %{y:.4f} at %{text}<extra></extra>`,
    })), { barmode: "stack", xaxis: { tickvals: places, ticktext: labels }, yaxis: { range: [0, 1] } });
  const { links, energy, power } = report.billed[byId("billed-select").value];
  references("chart-energy-references", `Energy per delivered bit, ${links}`, "Energy per delivered bit", "pJ/bit", curve, offered, energy, logAxis);
  references("chart-power-references", `Mean power, ${links}`, "Mean power", "W", curve, offered, power, () => ({}));
}

function shade(alpha) {
  return `rgba(${channelsOf(legible(BLUE)).join()},${Math.max(alpha, 0.05)})`;
}

// Colour of a power state; grey for `off`.
function stateColour(state, colour) {
  return state === "off" ? css("--off") : legible(colour);
}

function references(id, title, label, unit, curve, offered, names, axis) {
  const looks = [{ dash: "solid", symbol: "circle", colour: legible(curve.colour) }, { dash: "dash", symbol: "square", colour: css("--dim") }, { dash: "dot", symbol: "diamond", colour: css("--dim") }];
  const shared = sharedPrefix(names.flatMap((name) => curve.means[name]), unit);
  const scaled = (name) => curve.means[name].map((value) => (value === null ? null : value * shared.scale));
  const traces = ["as run", "always on", "ideal proportional"].flatMap((words, k) => {
    const values = scaled(names[k]);
    if (!anyKnown(values)) return [];
    return [{ x: offered, y: values, name: words, mode: "lines+markers", type: "scatter", customdata: curve.points.map((points) => points[0]),
      line: { color: looks[k].colour, dash: looks[k].dash }, marker: { symbol: curve.over.map((over) => looks[k].symbol + (over ? "-open" : "")), size: 7, color: looks[k].colour },
      hovertemplate: `${words}: %{y:.4g} ${shared.unit} at %{x:.4g}<extra></extra>` }];
  });
  draw(id, title, OFFERED, `${label} [${shared.unit}]`, withHollow([curve], traces), { xaxis: { rangemode: "tozero" }, yaxis: axis(names.flatMap(scaled)) });
}

// Markers of points that have an entry in the legend. Their number is that of the colours in CLASS_COLOURS.
const SOLUTION_SYMBOLS = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross"];

// Draws energy to solution over time to solution of programs, with a marker per point. A line connects the points of
// the Pareto front: no other point is better in both quantities.
function solutionChart() {
  const known = report.points.words.map((words, point) => ({ words, point, time: valueOf("solution_seconds", point), energy: valueOf("energy_total_j", point) }))
    .filter(({ time }) => typeof time === "number").sort((a, b) => a.time - b.time || a.energy - b.energy);
  const [times, energies] = [sharedPrefix(known.map(({ time }) => time), "s"), sharedPrefix(known.map(({ energy }) => energy), "J")];
  const xy = (each) => ({ x: each.map(({ time }) => time * times.scale), y: each.map(({ energy }) => energy * energies.scale), text: each.map(({ words }) => plain(words)), customdata: each.map(({ point }) => point) });
  let least = Infinity;
  const best = known.filter(({ energy }) => energy < least && ((least = energy), true));
  const hovertemplate = `%{text}: %{x:.5g} ${times.unit}, %{y:.5g} ${energies.unit}<extra></extra>`;
  const dots = (each, name, colour, symbol) => ({ ...xy(each), name, mode: "markers", type: "scatter", marker: { size: 9, color: legible(colour), symbol }, hovertemplate });
  // many names would make the legend longer than the chart, so only a few points have their names in it
  const markers = known.length <= SOLUTION_SYMBOLS.length ? known.map((each, k) => dots([each], plain(each.words) || "points", CLASS_COLOURS[k], SOLUTION_SYMBOLS[k])) : [dots(known, "points", BLUE, "circle")];
  draw("chart-solution", "Energy to solution and run time", `Time to solution [${times.unit}]`, `Energy to solution [${energies.unit}]`, known.length ? [
    { ...xy(best), name: "no other point is better in both", mode: "lines", type: "scatter", line: { shape: "hv", dash: "dash", width: 1, color: css("--dim") }, hoverinfo: "skip" },
    ...markers,
  ] : [], { xaxis: { rangemode: "tozero" } });
}

// A longer critical path (the number of letters of its data is above this value) would hide the picture. Such a path is
// shown only after a click on its entry in the legend.
const MOST_LETTERS = 4000;

// Draws the states of the ranks of a program over time, as a picture behind the axes, and the critical path as a line.
function rankChart(point) {
  const kept = report.ranks[point];
  byId("ranks-words").textContent = kept ? rankWords(kept) : "";
  if (!kept) return draw("chart-ranks", "", TIME, "", []);
  const states = kept.states.map(({ name, colour, share }) => meaning(`${name} (${(100 * share).toFixed(1)} % of all time)`, { mode: "markers", marker: { symbol: "square", size: 10, color: colour } }));
  const lines = kept.paths.map((path, number) => ({
    x: Array.from(decode(path.cycles), (each) => inTime(point, each)), y: Array.from(decode(path.rows)),
    name: "critical path", showlegend: number === 0, mode: "lines", type: "scatter", line: { color: "rgba(0, 0, 0, 0.8)", width: 1 }, visible: path.cycles.length > MOST_LETTERS ? "legendonly" : true,
    hovertemplate: `critical path: rank %{y} at ${FROM}<extra></extra>`,
  }));
  const end = inTime(point, kept.end);
  const image = { source: kept.image, xref: "x", yref: "y", x: 0, y: -0.5, sizex: end, sizey: kept.rows * kept.per_row, sizing: "stretch", layer: "below" };
  draw("chart-ranks", "State of each rank", TIME, "Rank", [...states, ...lines],
    { images: [image], xaxis: { range: [0, end] }, yaxis: { range: [kept.ranks - 0.5, -0.5], rangemode: "normal", showgrid: false } });
}

function rankWords({ paths, per_row, complete }) {
  const told = paths.map(({ words }) => words);
  told.push("Each spot of the picture has the colour of the state with the largest share of its time; drag over a part to enlarge it.");
  if (per_row > 1) told.push(`Each row of the picture shows ${per_row} ranks.`);
  if (paths.some(({ thinned }) => thinned > 1)) told.push("The line of the critical path omits some corners.");
  if (!complete) told.push("The record ends before the end of the run: increase measure.rank_states.max_spans to record the whole run.");
  return told.join(" ");
}

function pointCharts(point) {
  rankChart(point);
  const histogram = report.histograms[point];
  const latency = Array.from(decode(histogram.latency), (cycles) => inTime(point, cycles));
  const packets = decode(histogram.packets);
  const total = packets.reduce((sum, count) => sum + count, 0);
  let below = 0;
  const shares = latency.map((_, place) => (below += packets[place]) / total);
  const joined = histogram.joined > 1 ? ` (every ${histogram.joined}th step)` : "";
  const step = (y, words) => (latency.length ? [{ x: latency, y, mode: "lines", type: "scatter", name: WINDOW_PACKETS, showlegend: true, line: { shape: "hv", color: legible(BLUE), width: 2 }, hovertemplate: `${words} %{x} ${SHOWN.time}: %{y:.6g}<extra></extra>` }] : []);
  draw("chart-cdf", `Latency distribution${joined}`, PACKET_LATENCY, "Share of packets up to this latency", step(shares, "at most"), { yaxis: { range: [0, 1.02] } });
  const beyond = shares.map((share, place) => (place + 1 < shares.length ? 1 - share : null));
  draw("chart-ccdf", `Latency tail${joined}`, PACKET_LATENCY, "Share of packets above this latency", step(beyond, "later than"), { yaxis: logAxis([...beyond, 1]) });
  const hops = valueOf("hop_histogram", point) ?? [];
  const all = hops.reduce((sum, count) => sum + count, 0);
  draw("chart-hops", "Hops", "Links between routers on the path of a packet", "Share of packets",
    all ? [{ x: hops.map((_, hop) => hop), y: hops.map((count) => count / all), text: hops.map((count) => written(count)), textposition: "none", type: "bar", name: WINDOW_PACKETS, showlegend: true, marker: { color: legible(BLUE) }, hovertemplate: "%{x} hops: %{text} packets, %{y:.4f}<extra></extra>" }] : [],
    { xaxis: { dtick: hops.length > 20 ? undefined : 1 } });
  channelChart(point);
  historyCharts(point);
  phaseCharts(point);
}

// The position on a time axis, as text of a label that appears on hover.
const FROM = SHOWN.si ? `%{x} ${SHOWN.time}` : "cycle %{x}";

// Draws the recorded curves over time of a point. Two vertical lines mark the ends of the measured window.
function historyCharts(point) {
  const { series, transient } = report.histories[point] ?? {};
  const [warmup, cycles] = [valueOf("warmup_cycles", point), valueOf("window_cycles", point)];
  const times = (text) => Array.from(decode(text), (each) => inTime(point, each));
  const edge = (x) => ({ type: "line", x0: x, x1: x, y0: 0, y1: 1, yref: "paper", line: { color: css("--dim"), width: 1, dash: "dash" } });
  const layout = { shapes: [edge(inTime(point, warmup)), edge(inTime(point, warmup + cycles))], xaxis: { rangemode: "tozero" } };
  const frame = meaning("measured window", { mode: "lines", line: { color: css("--dim"), width: 1, dash: "dash" } });
  const lines = (series?.classes ?? []).map(({ name, channels, flits }, number) => ({
    x: times(series.from_cycle), y: Array.from(decode(flits), (count, k) => count / (decode(series.cycles)[k] * channels)),
    name, mode: "lines", type: "scatter", line: { shape: "hv", color: legible(CLASS_COLOURS[number % CLASS_COLOURS.length]), dash: DASHES[number % DASHES.length] },
    hovertemplate: `${name}, from ${FROM}: %{y:.4f}<extra></extra>`,
  }));
  draw("chart-series", "Utilisation over time", TIME, "Mean utilisation [share of bandwidth]", lines.length ? [...lines, frame] : [], layout);
  const late = (values, name, look) => ({ x: times(transient.from_cycle), y: times(values), name, mode: "lines", type: "scatter", line: look, hovertemplate: `${name}, created from ${FROM} on: %{y:.5g} ${SHOWN.time}<extra></extra>` });
  draw("chart-transient", "Latency by time of creation", `Time of creation [${SHOWN.time}]`, PACKET_LATENCY,
    transient ? [late(transient.mean_cycles, "mean", { color: legible(BLUE) }), late(transient.max_cycles, "longest", { color: legible("#D55E00"), dash: "dot" }), frame] : [], layout);
}

function phasesOf(point) {
  const { rows } = report.listings.find(({ name }) => name === "phases");
  const measured = rows[point].filter((phase) => typeof phase.from_cycle === "number");
  return measured.map((phase) => ({ ...phase, from: inTime(point, phase.from_cycle), to: inTime(point, phase.to_cycle), set: inLoad(point, phase.load) }));
}

// The trace of a quantity over the phases of the load, with a horizontal line per phase.
function phaseSteps(phases, name, words, colour, dash, more = {}) {
  return {
    x: phases.flatMap((phase) => [phase.from, phase.to, null]),
    y: phases.flatMap((phase) => (typeof phase[name] === "number" ? [phase[name], phase[name], null] : [null, null, null])),
    text: phases.flatMap((phase) => Array(3).fill(`phase ${phase.phase}`)),
    name: words, mode: "lines", type: "scatter", line: { color: colour, dash, width: 2 }, hovertemplate: `%{text}, ${words}: %{y:.4g}<extra></extra>`, ...more,
  };
}

// Hollow markers at the upper edge for saturated phases, and crosses on latencies that are not reliable.
function phaseMarks(phases, top) {
  const [over, late] = [phases.filter((phase) => phase.saturated === "saturated"), phases.filter((phase) => phase.crossed && typeof phase[SHOWN.latency.column] === "number")];
  const middle = (phase) => (phase.from + phase.to) / 2;
  const common = { mode: "markers", type: "scatter", cliponaxis: false };
  return [
    { ...common, x: over.map(middle), y: over.map(() => top), text: over.map((phase) => `phase ${phase.phase}`), name: "saturated", marker: { symbol: "circle-open", size: 9, color: css("--ink"), line: { width: 2 } }, hovertemplate: "%{text} is saturated: its latency has no limit<extra></extra>" },
    { ...common, x: late.map(middle), y: late.map((phase) => phase[SHOWN.latency.column]), text: late.map((phase) => `phase ${phase.phase} is ${phase.flaw}`), name: "not settled, not judged or packets dropped", marker: flawedMarker(), hovertemplate: "%{text}<extra></extra>" },
  ].filter((trace) => trace.x.length);
}

function phaseTop(phases) {
  return 1.15 * (Math.max(0, ...phases.map((phase) => phase[SHOWN.latency.column]).filter((value) => typeof value === "number")) || 1);
}

const someKnown = (traces) => traces.filter((trace) => anyKnown(trace.y));

// Draws offered load, accepted load, latency and power of each phase of a point.
function phaseCharts(point) {
  const measured = phasesOf(point);
  const steps = (...line) => phaseSteps(measured, ...line);
  const top = phaseTop(measured);
  draw("chart-phase-load", "Loads of the phases", TIME, `Load [${SHOWN.offered.unit}]`,
    someKnown([steps("set", "configured", css("--dim"), "dot"), steps(SHOWN.offered.column, "offered", legible("#D55E00"), "dash"), steps(SHOWN.accepted.column, "accepted", legible(BLUE), "solid")]));
  draw("chart-phase-latency", "Mean latency of the packets created in each phase", TIME, PACKET_LATENCY,
    [...someKnown([steps(SHOWN.latency.column, "mean", legible(BLUE), "solid")]), ...phaseMarks(measured, top)], { yaxis: { range: [0, top] } });
  powerOfPhases("chart-phase-power", "Mean power in each phase", measured, [steps("power_mean_w", "as run", legible(BLUE), "solid"), steps("power_always_on_mean_w", "always on", css("--dim"), "dash")]);
}

function powerOfPhases(id, title, phases, traces) {
  const { scale, unit } = sharedPrefix(phases.flatMap((phase) => [phase.power_mean_w, phase.power_always_on_mean_w]), "W");
  draw(id, title, TIME, `Mean power [${unit}]`, someKnown(traces).map((trace) => ({ ...trace, y: trace.y.map((value) => value && value * scale) })));
}

// Maximum number of points whose phases are drawn in one chart.
const MOST_BESIDE = 14;

// Whether the loads of all points change in phases, and there are at most MOST_BESIDE points.
function comparesPhases() {
  return pointCount > 1 && pointCount <= MOST_BESIDE && report.points.words.every((_, point) => phasesOf(point).length);
}

// Draws the phases of all points with one traffic pattern (panel), with a line per point.
function phasesBeside(panel) {
  const points = curvesOf(panel).flatMap((curve) => curve.points.flatMap((points, place) => points.map((point, seed) => ({
    phases: phasesOf(point),
    words: [curve.label || report.title, curve.load.length > 1 ? `load ${curve.load[place]}` : "", points.length > 1 ? `seed ${valueOf("seed", point) ?? seed}` : ""].filter(Boolean).map(plain).join(", "),
  }))));
  const of = panel ? `, ${plain(panel)}` : "";
  const lines = (name) => someKnown(points.map(({ phases, words }, k) => phaseSteps(phases, name, words, legible(CLASS_COLOURS[k % CLASS_COLOURS.length]), DASHES[k % DASHES.length])));
  const every = points.flatMap(({ phases }) => phases);
  const top = phaseTop(every);
  draw("chart-phases-accepted", `Accepted load in each phase${of}`, TIME, axisTitle(SHOWN.accepted), [...someKnown([phaseSteps(points[0].phases, "set", "configured", css("--dim"), "dot")]), ...lines(SHOWN.accepted.column)]);
  draw("chart-phases-latency", `Mean latency of the packets created in each phase${of}`, TIME, PACKET_LATENCY, [...lines(SHOWN.latency.column), ...phaseMarks(every, top)], { yaxis: { range: [0, top] } });
  powerOfPhases("chart-phases-power", `Mean power in each phase${of}`, every, lines("power_mean_w"));
}

// Draws the utilisation of channels between routers, busiest first, with a line per link class. If some channels are
// almost unused, the axis is logarithmic.
function channelChart(point) {
  const kept = report.channels[point];
  const traces = [];
  let axis = {};
  if (kept) {
    const network = report.networks[kept.network];
    const use = utilisations(point);
    const classes = decode(network.class);
    const present = channelPresence(network);
    const used = Array.from(use).filter((value, channel) => present[channel] && value > 0);
    const [least, most] = extent(used);
    const log = most > 20 * least;
    if (log) axis = logAxis(used);
    network.classes.forEach((name, number) => {
      const values = Array.from(use).filter((_, channel) => present[channel] && classes[channel % network.links] === number).sort((a, b) => b - a);
      const idle = values.filter((value) => !value).length;
      const words = log && idle ? `${name} (${written(idle)} not used)` : name;
      traces.push({ y: values.map((value) => (log && !value ? null : value)), x: values.map((_, rank) => rank + 1), name: words, mode: "lines", type: "scatter", line: { shape: "hvh", width: 2, color: legible(CLASS_COLOURS[number % CLASS_COLOURS.length]), dash: DASHES[number % DASHES.length] }, showlegend: true, hovertemplate: `${name}, number %{x}: %{y:.4g}<extra></extra>` });
    });
  }
  draw("chart-channels", "Utilisation of the channels between routers, sorted", "Channels, busiest first", "Utilisation [share of bandwidth]", traces, { yaxis: axis });
}

const BLUE = "#0072B2";
const WINDOW_PACKETS = "packets of the window";
const DASHES = ["solid", "dash", "dot", "dashdot"];
const CLASS_COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];

// Utilisation of each channel of a point in the window: its flits as a share of its bandwidth.
function utilisations(point) {
  const cycles = valueOf("window_cycles", point);
  const bandwidth = decode(report.channels[point].bandwidth);
  return Float64Array.from(decode(report.channels[point].flits), (flits, channel) => (cycles ? flits / cycles / bandwidth[channel] : 0));
}

function channelPresence(network) {
  return Uint8Array.from([...decode(network.forward), ...decode(network.backward)], (channel) => (channel ? 1 : 0));
}
