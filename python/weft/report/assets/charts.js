"use strict";
// The charts. Each function draws one from the data of the page, or hides it where nothing was measured.

const OFFERED = "Offered load [flits/terminal/cycle]";
const drawnCharts = new Map();

// Text for Plotly, which reads tags and entities in names.
function plain(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

function draw(id, title, x, y, traces, layout = {}) {
  const place = byId(id);
  place.hidden = !traces.length;
  if (!traces.length) return;
  drawnCharts.set(id, () => draw(id, title, x, y, traces, layout));
  const axis = { gridcolor: css("--grid"), linecolor: css("--dim"), zeroline: false, ticks: "outside", tickcolor: css("--dim"), automargin: true };
  const named = traces.filter((trace) => trace.name && trace.showlegend !== false);
  // Entries of the legend are as wide as the widest: about 7 pixels a letter.
  const entry = 50 + 7 * Math.max(0, ...named.map((trace) => trace.name.length));
  const columns = Math.max(1, Math.floor((place.clientWidth - 90) / entry));
  const rows = named.length > 1 ? Math.ceil(named.length / columns) : 0;
  const merged = {
    title: { text: title, x: 0.02, xanchor: "left", y: 1, yanchor: "top", pad: { t: 12 }, font: { size: 15 } },
    font: { family: "system-ui, sans-serif", size: 12.5, color: css("--ink") },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    margin: { l: 64, r: 18, t: 46 + 23 * rows, b: 48 },
    legend: { orientation: "h", y: 1.03, yanchor: "bottom", x: 0, font: { size: 12 } },
    showlegend: rows > 0,
    modebar: { bgcolor: "rgba(0,0,0,0)", color: css("--dim"), activecolor: css("--accent") },
    hoverlabel: { align: "left" },
    ...layout,
    xaxis: { ...axis, title: { text: x }, ...layout.xaxis },
    yaxis: { ...axis, title: { text: y }, rangemode: "tozero", ...layout.yaxis },
  };
  Plotly.react(place, traces, merged, { responsive: true, displaylogo: false, displayModeBar: matchMedia("(hover: hover)").matches ? "hover" : false, modeBarButtonsToRemove: ["lasso2d", "select2d"] });
  if (!place.dataset.listens) {
    place.dataset.listens = "yes";
    place.on("plotly_click", (event) => {
      const chosen = event.points.map((each) => each.customdata).find(Number.isInteger);
      if (chosen !== undefined) choosePoint(chosen);
    });
  }
}

// Drawn again where the colours of the page have changed.
function redrawCharts() {
  for (const again of drawnCharts.values()) again();
}

function quantity(name) {
  return report.tables.points.find((each) => each.column === name);
}

// A line through the points of a curve, with the look that it has in all figures; saturated points are hollow.
function curveTraces(curve, xs, ys, { line = curve.over.map(() => true), at = ys, unit = "", half = [] } = {}) {
  const look = { color: curve.colour, symbol: curve.symbol, size: 8 };
  const name = plain(curve.label);
  const hover = `${name || "all"}<br>%{x:.4g}: %{text} ${unit}<extra></extra>`;
  const kept = (wanted) => curve.load.map((_, place) => place).filter((place) => wanted(place) && ys[place] !== null && xs[place] !== null);
  const pick = (places, values) => places.map((place) => values[place]);
  const trace = (places, more) => ({
    x: pick(places, xs), y: pick(places, at), text: pick(places, ys).map((value) => written(value)),
    customdata: pick(places, curve.points).map((points) => points[0]),
    legendgroup: curve.label, hovertemplate: hover, type: "scatter", cliponaxis: false, ...more,
  });
  const inLine = kept((place) => line[place]);
  const steady = kept((place) => !curve.over[place]);
  const over = kept((place) => curve.over[place]);
  return [
    trace(inLine, { mode: "lines", line: { color: curve.colour, dash: curve.dash, width: 2 }, name, showlegend: false, hoverinfo: "skip" }),
    trace(steady, { mode: "markers", marker: look, error_y: { array: pick(steady, half), visible: anyKnown(pick(steady, half)), thickness: 1.2, width: 3 }, name: name || "all", showlegend: Boolean(curve.label) }),
    trace(over, { mode: "markers", marker: { ...look, symbol: `${curve.symbol}-open`, line: { width: 2 } }, name: `${name} saturated`, showlegend: false }),
  ].filter((each) => each.x.length);
}

function curvesOf(panel) {
  return report.curves.filter((curve) => curve.panel === panel);
}

function loadCharts(panel) {
  const curves = curvesOf(panel);
  const offered = curves.map((curve) => curve.means["offered_load"]);
  const accepted = curves.map((curve) => curve.means["accepted_load"]);
  const of = panel ? `, ${plain(panel)}` : "";
  const end = Math.max(...offered.flat());
  const diagonal = { x: [0, end], y: [0, end], mode: "lines", line: { color: css("--dim"), width: 1 }, name: "accepted = offered", hoverinfo: "skip", showlegend: false };
  const name = "accepted_load";
  draw("chart-accepted", `Accepted load${of}`, OFFERED, axisTitle(quantity(name)),
    [diagonal, ...curves.flatMap((curve, k) => curveTraces(curve, offered[k], accepted[k], { unit: quantity(name).unit, half: curve.half[name] }))], { xaxis: { rangemode: "tozero" } });
  latencyChart("chart-latency", `Latency${of}`, OFFERED, curves, offered);
  latencyChart("chart-latency-accepted", `Latency over accepted load${of}`, axisTitle(quantity(name)), curves, accepted);
  const energy = quantity("energy_per_bit_pj");
  draw("chart-energy", `Energy per bit${of}`, OFFERED, axisTitle(energy),
    curves.flatMap((curve, k) => curveTraces(curve, offered[k], curve.means[energy.column], { unit: energy.unit, half: curve.half[energy.column] })),
    { xaxis: { rangemode: "tozero" }, yaxis: logAxis(curves.flatMap((curve) => curve.means[energy.column])) });
}

// A logarithmic axis with marks at 1, 2 and 5 of each power of ten.
function logAxis(values) {
  const known = values.filter((value) => value > 0);
  const [low, high] = [Math.floor(Math.log10(Math.min(...known))), Math.ceil(Math.log10(Math.max(...known)))];
  const ticks = Array.from({ length: Math.max(high - low + 1, 0) }, (_, k) => low + k).flatMap((power) => (high - low > 4 ? [1] : [1, 2, 5]).map((digit) => digit * 10 ** power));
  return { type: "log", rangemode: "normal", tickvals: ticks, ticktext: ticks.map((tick) => String(Number(tick.toPrecision(1)))) };
}

// Latency lines end where saturation begins; saturated points stand at the upper edge.
function latencyChart(id, title, x, curves, xs) {
  const latency = quantity("packet_latency_mean_cycles");
  const values = curves.map((curve) => curve.means[latency.column]);
  const steady = curves.flatMap((curve, k) => values[k].filter((value, place) => value !== null && !curve.over[place]));
  const top = 1.15 * Math.max(1, ...steady);
  const traces = curves.flatMap((curve, k) => curveTraces(curve, xs[k], values[k], {
    line: curve.over.map((over) => !over),
    at: values[k].map((value, place) => (curve.over[place] ? top : value)),
    unit: latency.unit, half: curve.half[latency.column],
  }));
  draw(id, title, x, axisTitle(latency), traces, { xaxis: { rangemode: "tozero" }, yaxis: { range: [0, top] } });
}

function curveCharts(curve) {
  const offered = curve.means["offered_load"];
  const steady = curve.over.map((over) => !over);
  const shades = report.percentiles.map(([share, name]) => [`${share} %`, curve.means[name]]);
  const bands = shades.filter(([, values]) => anyKnown(values)).map(([words, values], k, all) => ({
    x: offered.filter((_, place) => steady[place]), y: values.filter((_, place) => steady[place]),
    name: `${words} of packets`, mode: "lines+markers", type: "scatter", fill: k ? "tonexty" : "none",
    fillcolor: shade(0.35 - (0.3 * k) / all.length), line: { color: shade(1 - (0.55 * k) / all.length) },
    marker: { symbol: ["circle", "square", "diamond", "triangle-up", "cross", "x"][k], size: 7 },
    hovertemplate: `${words}: %{y} cycles at %{x:.4g}<extra></extra>`,
  }));
  draw("chart-percentiles", "Latency percentiles (points below saturation)", OFFERED, "Packet latency [cycles]",
    steady.some(Boolean) ? bands : [], { xaxis: { rangemode: "tozero" } });
  const places = offered.map((_, place) => place);
  const labels = offered.map((load) => `${Number(load.toPrecision(3))}`);
  const shares = Object.entries(report.states).map(([state, colour]) => [state, colour, curve.means[`links_${state}_share`]]);
  draw("chart-residency", "Power states of the managed links", OFFERED, "Share of the window",
    shares.filter(([, , values]) => values.some((value) => value)).map(([state, colour, values]) => ({
      x: places, text: labels, textposition: "none", y: values, name: state, type: "bar", marker: { color: state === "off" ? css("--off") : colour, pattern: { shape: report.state_patterns[state] } },
      hovertemplate: `${state}: %{y:.4f} at %{text}<extra></extra>`,
    })), { barmode: "stack", xaxis: { tickvals: places, ticktext: labels }, yaxis: { range: [0, 1] } });
  const { links, energy, power } = report.billed[byId("billed-select").value];
  references("chart-energy-references", `Energy per delivered bit, ${links}`, "Energy per delivered bit [pJ/bit]", curve, offered, energy, true);
  references("chart-power-references", `Mean power, ${links}`, "Mean power [W]", curve, offered, power, false);
}

function shade(alpha) {
  return `rgba(0,114,178,${Math.max(alpha, 0.05)})`;
}

function references(id, title, y, curve, offered, names, log) {
  const looks = [{ dash: "solid", symbol: "circle", colour: curve.colour }, { dash: "dash", symbol: "square", colour: css("--dim") }, { dash: "dot", symbol: "diamond", colour: css("--dim") }];
  const traces = ["as run", "always on", "ideal proportional"].flatMap((words, k) => {
    const values = curve.means[names[k]];
    if (!anyKnown(values)) return [];
    return [{ x: offered, y: values, name: words, mode: "lines+markers", type: "scatter", customdata: curve.points.map((points) => points[0]),
      line: { color: looks[k].colour, dash: looks[k].dash }, marker: { symbol: curve.over.map((over) => looks[k].symbol + (over ? "-open" : "")), size: 7, color: looks[k].colour },
      hovertemplate: `${words}: %{y:.4g} at %{x:.4g}<extra></extra>` }];
  });
  draw(id, title, OFFERED, y, traces, { xaxis: { rangemode: "tozero" }, yaxis: log ? logAxis(names.flatMap((name) => curve.means[name])) : {} });
}

function pointCharts(point) {
  const histogram = report.histograms[point];
  const latency = Array.from(decode(histogram.latency));
  const packets = decode(histogram.packets);
  const total = packets.reduce((sum, count) => sum + count, 0);
  let below = 0;
  const shares = latency.map((_, place) => (below += packets[place]) / total);
  const joined = histogram.joined > 1 ? ` (every ${histogram.joined}th step)` : "";
  const step = (y, words) => (latency.length ? [{ x: latency, y, mode: "lines", type: "scatter", line: { shape: "hv", color: "#0072B2", width: 2 }, hovertemplate: `${words} %{x} cycles: %{y:.6g}<extra></extra>`, showlegend: false }] : []);
  draw("chart-cdf", `Latency distribution${joined}`, "Packet latency [cycles]", "Share of packets at most as late", step(shares, "at most"), { yaxis: { range: [0, 1.02] } });
  const beyond = shares.map((share, place) => (place + 1 < shares.length ? 1 - share : null));
  draw("chart-ccdf", `Latency tail${joined}`, "Packet latency [cycles]", "Share of packets that are later", step(beyond, "later than"), { yaxis: { type: "log", rangemode: "normal", dtick: 1, exponentformat: "power" } });
  const hops = valueOf("hop_histogram", point) ?? [];
  const all = hops.reduce((sum, count) => sum + count, 0);
  draw("chart-hops", "Hops", "Links between routers on the way of a packet", "Share of packets",
    all ? [{ x: hops.map((_, hop) => hop), y: hops.map((count) => count / all), text: hops.map((count) => written(count)), textposition: "none", type: "bar", marker: { color: "#0072B2" }, hovertemplate: "%{x} hops: %{text} packets, %{y:.4f}<extra></extra>" }] : [],
    { xaxis: { dtick: hops.length > 20 ? undefined : 1 } });
  channelChart(point);
  historyCharts(point);
}

// What was recorded over time; two lines frame the measured window.
function historyCharts(point) {
  const { series, transient } = report.histories[point] ?? {};
  const [warmup, cycles] = [valueOf("warmup_cycles", point), valueOf("window_cycles", point)];
  const edge = (x) => ({ type: "line", x0: x, x1: x, y0: 0, y1: 1, yref: "paper", line: { color: css("--dim"), width: 1, dash: "dash" } });
  const layout = { shapes: [edge(warmup), edge(warmup + cycles)], xaxis: { rangemode: "tozero" } };
  const lines = (series?.classes ?? []).map(({ name, channels, flits }, number) => ({
    x: Array.from(decode(series.from_cycle)), y: Array.from(decode(flits), (count, k) => count / (decode(series.cycles)[k] * channels)),
    name, mode: "lines", type: "scatter", line: { shape: "hv", color: CLASS_COLOURS[number % CLASS_COLOURS.length], dash: DASHES[number % DASHES.length] },
    hovertemplate: `${name}, from cycle %{x}: %{y:.4f}<extra></extra>`,
  }));
  draw("chart-series", "Utilisation over time (dashed: the window)", "Time [cycles]", "Mean utilisation [flits/cycle]", lines, layout);
  const late = (values, name, look) => ({ x: Array.from(decode(transient.from_cycle)), y: Array.from(values), name, mode: "lines", type: "scatter", line: look, hovertemplate: `${name}, created from cycle %{x} on: %{y:.5g} cycles<extra></extra>` });
  draw("chart-transient", "Latency by time of creation (dashed: the window)", "Time of creation [cycles]", "Packet latency [cycles]",
    transient ? [late(decode(transient.mean_cycles), "mean", { color: "#0072B2" }), late(decode(transient.max_cycles), "longest", { color: "#D55E00", dash: "dot" })] : [], layout);
}

// What each phase of the load offered, accepted and used: a step per phase of the window.
function phaseCharts(phases) {
  const measured = phases.filter((phase) => typeof phase.from_cycle === "number");
  const steps = (name, words, colour, dash, more = {}) => ({
    x: measured.flatMap((phase) => [phase.from_cycle, phase.to_cycle, null]),
    y: measured.flatMap((phase) => (typeof phase[name] === "number" ? [phase[name], phase[name], null] : [null, null, null])),
    text: measured.flatMap((phase) => Array(3).fill(`phase ${phase.phase}`)),
    name: words, mode: "lines", type: "scatter", line: { color: colour, dash, width: 2 }, hovertemplate: `%{text}, ${words}: %{y:.4g}<extra></extra>`, ...more,
  });
  const over = measured.filter((phase) => phase.saturated === "saturated");
  const known = measured.map((phase) => phase.packet_latency_mean_cycles).filter((value) => typeof value === "number");
  const top = 1.15 * Math.max(1, ...known);
  const marks = { x: over.map((phase) => (phase.from_cycle + phase.to_cycle) / 2), y: over.map(() => top), text: over.map((phase) => `phase ${phase.phase}`), name: "saturated", mode: "markers", type: "scatter", cliponaxis: false,
    marker: { symbol: "circle-open", size: 9, color: "#0072B2", line: { width: 2 } }, hovertemplate: "%{text} is saturated: its latency has no limit<extra></extra>" };
  const lines = (traces) => (measured.length ? traces.filter((trace) => anyKnown(trace.y)) : []);
  const time = "Time [cycles]";
  draw("chart-phase-load", "Loads of the phases", time, "Load [flits/terminal/cycle]",
    lines([steps("load", "as set", css("--dim"), "dot"), steps("offered_load", "offered", "#D55E00", "dash"), steps("accepted_load", "accepted", "#0072B2", "solid")]));
  draw("chart-phase-latency", "Mean latency of the packets created in each phase", time, "Packet latency [cycles]",
    lines([steps("packet_latency_mean_cycles", "mean", "#0072B2", "solid"), marks]), { yaxis: { range: [0, top] } });
  draw("chart-phase-power", "Mean power in each phase", time, "Mean power [W]",
    lines([steps("power_mean_w", "as run", "#0072B2", "solid"), steps("power_always_on_mean_w", "always on", css("--dim"), "dash")]));
}

// Channels between routers from the busiest on, a line per class.
function channelChart(point) {
  const kept = report.channels[point];
  const traces = [];
  if (kept) {
    const network = report.networks[kept.network];
    const use = utilisations(point);
    const classes = decode(network.class);
    const present = channelPresence(network);
    network.classes.forEach((name, number) => {
      const values = Array.from(use).filter((_, channel) => present[channel] && classes[channel % network.links] === number).sort((a, b) => b - a);
      traces.push({ y: values, x: values.map((_, rank) => rank + 1), name, mode: "lines", type: "scatter", line: { shape: "hvh", width: 2, color: CLASS_COLOURS[number % CLASS_COLOURS.length], dash: DASHES[number % DASHES.length] }, showlegend: network.classes.length > 1, hovertemplate: `${name}, number %{x}: %{y:.4f}<extra></extra>` });
    });
  }
  draw("chart-channels", "Utilisation of the channels between routers, sorted", "Channels, busiest first", "Utilisation [flits/cycle]", traces);
}

const DASHES = ["solid", "dash", "dot", "dashdot"];
const CLASS_COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];

// Flits per cycle of the window of each channel of a point.
function utilisations(point) {
  const cycles = valueOf("window_cycles", point);
  return Float64Array.from(decode(report.channels[point].flits), (flits) => (cycles ? flits / cycles : 0));
}

function channelPresence(network) {
  return Uint8Array.from([...decode(network.forward), ...decode(network.backward)], (channel) => (channel ? 1 : 0));
}
