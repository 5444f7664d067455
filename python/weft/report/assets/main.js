"use strict";
// Puts the page together: tables, selectors, and what follows from choosing a curve or a point.

const view = new NetworkView();
let tableRows = [];

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
    buttons.forEach((button, k) => button.setAttribute("aria-pressed", panels[k] === panel));
    loadCharts(panel);
  }
}

function showCurves() {
  const several = report.curve_table.length > 1;
  const all = [
    { label: "traffic", key: "panel" }, { label: "curve", key: "curve" },
    { label: "lowest load (as set)", key: "from_load", unit: "flits/terminal/cycle" },
    { label: "latency there", key: "latency", unit: "cycles", digits: 1 },
    { label: "saturates (load as set)", key: "saturation", unit: "flits/terminal/cycle" },
    { label: "most accepted", key: "accepted", unit: "flits/terminal/cycle", digits: 4 },
    { label: "accepted where", title: "empty if the point that accepts most is sound", key: "accepted_flaw" },
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
  const shown = report.tables.points.filter(({ column: name }) => column(name));
  const known = (name) => shown.some((each) => each.column === name);
  const varied = report.points.varied.filter((path) => !known(path));
  const top = [...varied.map((path) => ({ label: path.split(".").pop(), title: path })), ...heads(shown), { label: "drawn", title: "whether its channels are on this page" }, { label: "hash" }];
  const rows = report.points.words.map((_, point) => [
    ...varied.map((path) => valueOf(path, point)),
    ...shown.map((each) => inUnit(each, valueOf(each.column, point))),
    report.channels[point] ? "yes" : "no",
    report.points.hash[point],
  ]);
  tableRows = sortable(byId("point-table"), top, rows, { onRow: (point) => { choosePoint(point); byId("point").scrollIntoView(); } });
  const select = byId("point-select");
  select.append(...report.points.words.map((textContent, value) => element("option", { value, textContent })));
  select.addEventListener("change", () => choosePoint(Number(select.value)));
  const step = (by) => choosePoint((Number(select.value) + by + pointCount) % pointCount);
  byId("point-before").addEventListener("click", () => step(-1));
  byId("point-next").addEventListener("click", () => step(1));
}

// Everything about one point.
function choosePoint(point) {
  byId("point-select").value = point;
  tableRows.forEach((row, k) => row.classList.toggle("chosen", k === point));
  const facts = report.tables.points.map((each) => [each, inUnit(each, valueOf(each.column, point))]).filter(([, value]) => value !== null);
  byId("point-facts").replaceChildren(...facts.map(([each, value]) =>
    element("span", {}, `${each.label} `, element("b", { textContent: [written(value, each.digits), each.unit].filter(Boolean).join(" ") }))));
  const stall = report.stalls[point];
  byId("point-stall").replaceChildren(...(stall ? [element("h3", { textContent: "Stalled: what waits for what" }), element("pre", { className: "stall", textContent: stall })] : []));
  view.show(point);
  pointCharts(point);
  pointTables(point);
}

function pointTables(point) {
  listTable("class-table", "Link classes", "link_class", "class", report.tables.classes, report.link_classes[point]);
  const jobs = report.jobs[point];
  listTable("job-table", "Jobs", "job", "job", report.tables.jobs, jobs.length > 1 || jobs.some((job) => job.batch_packets !== null) ? jobs : []);
  listTable("phase-table", "Phases of the load", "phase", "phase", report.tables.phases, report.phases[point]);
  phaseCharts(report.phases[point]);
  busyTable(point);
}

function listTable(id, caption, key, label, quantities, rows) {
  const place = byId(id);
  place.replaceChildren();
  if (!rows.length) return;
  const shown = quantities.filter(({ column: name }) => rows.some((row) => row[name] !== null && row[name] !== undefined));
  sortable(place, [{ label }, ...heads(shown)], rows.map((row) => [row[key], ...shown.map((each) => inUnit(each, row[each.column]))]), { caption });
}

// The busiest channels, for those who can't hover; a row points its link out in the drawing.
function busyTable(point) {
  const place = byId("busy-table");
  place.replaceChildren();
  const kept = report.channels[point];
  if (!kept || !report.networks[kept.network].links) return;
  const network = report.networks[kept.network];
  const [flits, use, present] = [decode(kept.flits), utilisations(point), channelPresence(network)];
  const [from, to, ports, classes] = [decode(network.from), decode(network.to), [decode(network.from_port), decode(network.to_port)], decode(network.class)];
  const busiest = Array.from(flits.keys()).filter((channel) => present[channel]).sort((a, b) => flits[b] - flits[a] || a - b).slice(0, 20);
  const rows = busiest.map((channel) => {
    const link = channel % network.links;
    const ends = channel < network.links ? [from[link], ports[0][link], to[link], ports[1][link]] : [to[link], ports[1][link], from[link], ports[0][link]];
    return [view.channelNumber(channel), network.classes[classes[link]], ...ends, flits[channel], use[channel], decode(kept.transitions)[channel], Number(decode(kept.energy_j)[channel].toPrecision(5))];
  });
  const top = ["channel", "class", "from router", "port", "to router", "port", "flits", "utilisation", "transitions", "energy"].map((label) => ({ label }));
  top[7] = { ...top[7], unit: "flits/cycle", digits: 4 };
  top[9] = { ...top[9], unit: "J" };
  sortable(place, top, rows, { caption: "The busiest channels between routers", onRow: (row) => view.point_out(busiest[row] % network.links) });
}

function roomNote() {
  const thinned = report.histograms.filter((each) => each.joined > 1).length;
  const merged = Object.values(report.frames).filter((each) => each.merged > 1).length;
  const told = [`Measured numbers that are not whole are rounded to ${report.digits} significant digits on this page; counts are exact.`];
  if (report.crowded_out) told.push(`The channels of ${Object.keys(report.channels).length} of ${pointCount} points are on it, of each curve the highest steady load first; the files of the results hold all.`);
  if (thinned) told.push(`Latency distributions of ${thinned} points are given at every few latencies only; what is given is exact.`);
  if (merged) told.push(`Over time, several samples are one step in ${merged} points.`);
  for (const [point, why] of Object.entries(report.unreadable)) told.push(`${report.points.words[point]} is not drawn: ${why}.`);
  byId("room-note").textContent = told.join(" ");
}

if (pointCount > 1) showPanels();
else byId("load-charts").hidden = true;
showCurves();
showPoints();
roomNote();
choosePoint(report.first);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  redrawCharts();
  view.paint();
});
