"use strict";
// Builds the page: tables and selectors, and the functions that run when the reader chooses a curve or a point.

const view = new NetworkView();
let tableRows = [];
let shownPanel = "";

function curveName(curve) {
  return [curve.panel, curve.label].filter(Boolean).join(", ") || "all points";
}

function showPanels() {
  const panels = [...new Set(report.curves.map((curve) => curve.panel))];
  const place = byId("panel-controls");
  const buttons = panels.map((panel) => element("button", { type: "button", textContent: panel, onclick: () => choose(panel) }));
  if (panels.length > 1) place.append("Traffic pattern", ...buttons);
  choose(panels[0]);

  function choose(panel) {
    shownPanel = panel;
    buttons.forEach((button, k) => button.setAttribute("aria-pressed", panels[k] === panel));
    loadCharts(panel);
  }
}

function showCurves() {
  const several = report.curve_table.length > 1;
  const all = [
    { label: "traffic", key: "panel" }, { label: "curve", key: "curve" },
    { label: "lowest configured load", key: "from_load", unit: "flits/terminal/cycle" },
    { label: "latency at lowest load", key: "latency", unit: "cycles", digits: 1 },
    { label: "latency at lowest load", key: "latency_us", unit: "us", digits: 4 },
    { label: "saturation (configured load)", key: "saturation", unit: "flits/terminal/cycle" },
    { label: "highest accepted load", key: "accepted", unit: "flits/terminal/cycle", digits: 4 },
    { label: "highest accepted load", key: "accepted_gbps", unit: "Gb/s per terminal", digits: 1 },
    { label: "flaw of this point", title: "flaw of the point with the highest accepted load, and excluded points with a higher load; empty if there are none", key: "accepted_flaw" },
  ];
  const shown = all.filter(({ key }) => report.curve_table.some((row) => row[key] !== "" && row[key] !== null));
  sortable(byId("curve-table"), shown, report.curve_table.map((row) => shown.map(({ key }) => row[key])),
    { onRow: several ? (number) => chooseCurve(number) : null });
  const select = byId("curve-select");
  select.append(...report.curves.map((curve, value) => element("option", { value, textContent: curveName(curve) })));
  options("billed-select", report.billed.map(({ links }, number) => [number, links]));
  for (const each of [select, byId("billed-select")]) each.addEventListener("change", () => curveCharts(report.curves[select.value]));
  curveCharts(report.curves[0]);
}

function chooseCurve(number) {
  byId("curve-select").value = number;
  curveCharts(report.curves[number]);
  byId("curve").scrollIntoView();
}

function showPoints() {
  const shown = report.columns.filter(({ column: name }) => column(name));
  const known = (name) => shown.some((each) => each.column === name);
  const varied = report.points.varied.filter((path) => !known(path));
  const top = [...varied.map((path) => ({ label: path.split(".").pop(), title: path })), ...heads(shown), { label: "drawn", title: "whether this page contains the channels of the point" }, { label: "hash" }];
  const rows = report.points.words.map((_, point) => [
    ...varied.map((path) => coordinate(path, point)),
    ...shown.map((each) => measured(each, point)),
    report.channels[point] ? "yes" : "no",
    report.points.hash[point],
  ]);
  tableRows = sortable(byId("point-table"), top, rows, { onRow: (point) => { choosePoint(point); byId("point").scrollIntoView(); } });
  const used = new Set(rows.flat().map((cell) => cell?.mark));
  byId("point-words").textContent = [...Object.keys(ENDLESS).map(endless), ...meanings(used).map((words) => `${words}.`)].filter(Boolean).join(" ");
  const select = byId("point-select");
  select.append(...report.points.words.map((textContent, value) => element("option", { value, textContent })));
  select.addEventListener("change", () => choosePoint(Number(select.value)));
  const step = (by) => choosePoint((Number(select.value) + by + pointCount) % pointCount);
  byId("point-before").addEventListener("click", () => step(-1));
  byId("point-next").addEventListener("click", () => step(1));
}

const ENDLESS = {
  saturated: { mark: "sat", words: "saturated, the latency has no limit" },
  stalled: { mark: "stall", words: "packets, or ranks of a program, wait for each other forever" },
  not_complete: { mark: "cut", words: "cut off at the longest window, before its batches or programs were complete" },
};

// The reason why the latency of a point grows without limit or is unknown, as a key of ENDLESS; null if there is none.
function whyEndless(point) {
  const ending = valueOf("ending", point);
  if (ending === "stalled") return ending;
  if (valueOf("saturated", point)) return "saturated";
  return ending === "not_complete" ? ending : null;
}

function endless(why) {
  const { mark, words } = ENDLESS[why];
  return report.points.words.some((_, point) => whyEndless(point) === why) ? `${mark}: ${words}.` : "";
}

// A cell with a number, and with the mark of its point or phase if numbers of this column have this mark.
function withMark(value, { marks }, mark) {
  return typeof value === "number" && marks.includes(mark) ? { value, mark, title: report.marks[mark] } : value;
}

// The meanings of the used marks (signs after numbers), in the order of `report.marks`.
function meanings(used) {
  return Object.entries(report.marks).filter(([mark]) => used.has(mark)).map(([mark, words]) => `${mark}: ${words}`);
}

// A cell with a coordinate of a point. A model has only its name if that is enough, and all its options on hover.
function coordinate(path, point) {
  const value = valueOf(path, point);
  const brief = report.points.brief[path];
  return brief ? { text: Array.isArray(brief) ? brief[point] : brief.all, value, title: value } : value;
}

// A cell with a measured number. If a latency grows without limit, the cell says so, and its number appears on hover.
function measured(each, point) {
  const value = inUnit(each, valueOf(each.column, point));
  const why = each.column.startsWith("packet_latency") && whyEndless(point);
  if (!why) return withMark(value, each, valueOf("mark", point));
  return { text: ENDLESS[why].mark, value: null, title: `${ENDLESS[why].words}; in this window ${inWords(value, each)}` };
}

// Shows all data about one point.
function choosePoint(point) {
  byId("point-select").value = point;
  tableRows.forEach((row, k) => row.classList.toggle("chosen", k === point));
  const facts = report.columns.filter((each) => valueOf(each.column, point) !== null).map((each) => {
    const cell = measured(each, point);
    if (cell?.mark) return [each.label, `${inWords(cell.value, each)} (${cell.title})`];
    return [each.label, cell?.text ? `${cell.text} (${cell.title})` : inWords(cell, each)];
  });
  byId("point-facts").replaceChildren(...facts.map(([label, textContent]) => element("span", {}, `${label} `, element("b", { textContent }))));
  const stall = report.stalls[point];
  byId("point-stall").replaceChildren(...(stall ? [element("h3", { textContent: "Stalled: the packets that wait for each other" }), element("pre", { className: "stall", textContent: stall })] : []));
  view.show(point);
  pointCharts(point);
  byId("listings").replaceChildren(...report.listings.map((listing) => listed(listing, point)));
  busyTable(point);
  byId("utilisation-note").hidden = !beyondOne(point);
}

// The table of a list that each point has, for example its link classes or jobs.
function listed({ name, caption, key, head, columns, rows }, point) {
  const place = element("div", { id: `${name}-table` });
  const entries = rows[point];
  if (!entries.length) return place;
  const shown = columns.filter(({ column: wanted }) => entries.some((entry) => entry[wanted] !== null && entry[wanted] !== undefined));
  const made = entries.map((entry) => [entry[key], ...shown.map((each) => withMark(inUnit(each, entry[each.column]), each, entry.mark))]);
  const used = new Set(made.flat().map((cell) => cell?.mark));
  sortable(place, [{ label: head }, ...heads(shown)], made, { caption: [caption, ...meanings(used)].join("; ") });
  return place;
}

// Whether the page shows a utilisation above 1 for a point.
function beyondOne(point) {
  const listings = report.listings.flatMap(({ columns, rows }) => columns.filter(({ column: name }) => name.startsWith("utilisation")).flatMap(({ column: name }) => rows[point].map((entry) => entry[name])));
  return [...listings, ...(report.channels[point] ? utilisations(point) : [])].some((value) => value > 1);
}

// Shows a table of the busiest channels, for readers who can't hover. A click on a row marks its link in the drawing.
function busyTable(point) {
  const place = byId("busy-table");
  place.replaceChildren();
  const kept = report.channels[point];
  if (!kept || !report.networks[kept.network].links) return;
  const network = report.networks[kept.network];
  const [flits, use, present] = [decode(kept.flits), utilisations(point), channelPresence(network)];
  const [from, to, ports, classes] = [decode(network.from), decode(network.to), [decode(network.from_port), decode(network.to_port)], decode(network.class)];
  const busiest = Array.from(flits.keys()).filter((channel) => present[channel]).sort((a, b) => flits[b] - flits[a] || a - b).slice(0, 20);
  const name = (router) => (network.names ? network.names[router] : router);
  const rows = busiest.map((channel) => {
    const link = channel % network.links;
    const ends = channel < network.links ? [name(from[link]), ports[0][link], name(to[link]), ports[1][link]] : [name(to[link]), ports[1][link], name(from[link]), ports[0][link]];
    return [view.channelNumber(channel), network.classes[classes[link]], ...ends, flits[channel], use[channel], decode(kept.transitions)[channel], decode(kept.energy_j)[channel]];
  });
  const top = ["channel", "class", "from router", "port", "to router", "port", "flits", "utilisation", "transitions", "energy"].map((label) => ({ label }));
  top[7] = { ...top[7], unit: "share of bandwidth", digits: 4 };
  top[9] = { ...top[9], unit: "J" };
  sortable(place, top, rows, { caption: "The busiest channels between routers", onRow: (row) => view.point_out(busiest[row] % network.links) });
}

function roomNote() {
  const thinned = report.histograms.filter((each) => each.joined > 1).length;
  const merged = Object.values(report.frames).filter((each) => each.merged > 1).length;
  const told = [`This page rounds measured numbers to ${report.digits} significant digits, except whole numbers; counts are exact.`];
  if (report.crowded_out) told.push(`The page contains the channels of ${Object.keys(report.channels).length} of ${pointCount} points, for each curve the highest steady load first; the files of the results contain all channels.`);
  if (thinned) told.push(`The page shows the latency distributions of ${thinned} points only at some latencies; the shown values are exact.`);
  if (merged) told.push(`In the films of ${merged} points, one step combines several samples.`);
  for (const [point, why] of Object.entries(report.unreadable)) told.push(`The network of ${report.points.words[point]} is not drawn: ${why}.`);
  byId("room-note").textContent = told.join(" ");
}

if (pointCount > 1 && !report.programs) showPanels();
else byId("load-charts").hidden = true;
showCurves();
if (report.programs) {
  // programs have no load, so the tables and charts over load are hidden
  for (const each of [byId("curve-table"), byId("curve"), document.querySelector('nav a[href="#curve"]')]) each.hidden = true;
  solutionChart();
}
showPoints();
roomNote();
choosePoint(report.first);

// Draws all charts again, because the colours or the available space have changed.
function redraw() {
  if (report.programs) solutionChart();
  else if (pointCount > 1) loadCharts(shownPanel);
  curveCharts(report.curves[byId("curve-select").value]);
  pointCharts(Number(byId("point-select").value));
  view.canvas.resized();
  view.paint();
}

function forPrint(on) {
  document.documentElement.classList.toggle("printing", on);
  redraw();
  const room = document.querySelector("main").clientWidth;
  for (const table of document.querySelectorAll(".scroll table")) {
    table.style.zoom = 1;
    if (on && table.offsetWidth > room) table.style.zoom = room / table.offsetWidth;
  }
}

let waiting = null;
addEventListener("resize", () => {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(() => printing() || redraw());
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => printing() || redraw());
addEventListener("beforeprint", () => forPrint(true));
addEventListener("afterprint", () => forPrint(false));
