"use strict";
// Chooses the styles of the links in the drawing of a network: by utilisation or power state, in the window or over
// time. Shows details on hover.

const RAMP_STEPS = 24;
// On a logarithmic scale, all values below this share of the upper end have the same colour.
const LOG_SPAN = 1e-3;

class NetworkView {
  constructor() {
    this.canvas = new NetworkCanvas(byId("network-canvas"), byId("network-overlay"));
    this.canvas.onHover = (found, x, y) => this.tell(found, x, y);
    byId("network-colour").addEventListener("change", () => this.paint());
    byId("network-when").addEventListener("change", () => this.whenChanged());
    byId("network-slider").addEventListener("input", () => this.paint());
    byId("network-play").addEventListener("click", () => (this.timer ? this.stop() : this.play()));
    byId("network-fit").addEventListener("click", () => {
      this.canvas.fit();
      this.canvas.draw();
    });
  }

  // Shows a point, or a text that says why it can't be shown.
  show(point) {
    this.stop();
    this.point = point;
    const kept = report.channels[point];
    const network = kept && report.networks[kept.network];
    this.kept = network?.links ? kept : null;
    byId("network").hidden = !this.kept;
    byId("network-note").textContent = this.kept ? "" : absence(point, kept);
    if (!this.kept) return;
    if (this.network !== network) {
      this.network = network;
      this.canvas.show(network);
    }
    this.use = utilisations(point);
    this.bandwidth = decode(report.channels[point].bandwidth);
    this.film = report.frames[point] ?? null;
    byId("network-words").textContent = words(network, this.film);
    this.offer();
    this.whenChanged();
  }

  // Fills the selectors with the choices for which the point has data.
  offer() {
    const slept = Object.keys(this.kept.cycles).some((state) => state !== "on");
    const stuck = report.waiting[this.point];
    options("network-colour", [["utilisation", "utilisation"], ["log", "utilisation, log scale"], ...(slept ? [["state", "power state"]] : []), ...(stuck ? [["stall", "waiting packets"]] : [])]);
    if (stuck) byId("network-colour").value = "stall";
    options("network-when", [["window", "whole window"], ...(this.film ? [["film", "step by step"]] : [])]);
    const slider = byId("network-slider");
    slider.max = this.film ? this.film.pictures - 1 : 0;
    slider.value = Math.min(slider.value, slider.max);
  }

  whenChanged() {
    byId("network-film").hidden = !this.filming();
    if (!this.filming()) this.stop();
    this.paint();
  }

  filming() {
    return Boolean(this.film) && byId("network-when").value === "film";
  }

  picture() {
    return Number(byId("network-slider").value);
  }

  // Utilisation of each channel in the window, or in the shown picture of the film (values over time). The result is
  // null if the film has only power states.
  shownUse() {
    if (!this.filming()) return this.use;
    if (!this.film.flits) return null;
    const channels = 2 * this.network.links;
    const begin = this.picture() * channels;
    const cycles = decode(this.film.cycles)[this.picture()];
    return Float64Array.from(decode(this.film.flits).subarray(begin, begin + channels), (flits, channel) => flits / cycles / this.bandwidth[channel]);
  }

  shownStates() {
    const channels = 2 * this.network.links;
    if (!this.filming()) return null;
    if (!this.film.state) return new Uint8Array(channels).fill(report.state_order.indexOf("on"));
    return decode(this.film.state).subarray(this.picture() * channels, (this.picture() + 1) * channels);
  }

  paint() {
    if (!this.kept) return;
    this.time();
    const shows = { utilisation: () => this.paintUse(false), log: () => this.paintUse(true), state: () => this.paintStates(), stall: () => this.paintStall() };
    shows[byId("network-colour").value]();
    this.tell(this.found, ...(this.at ?? [0, 0]));
  }

  // Draws channels by utilisation. Channels without flits are grey and dashed, so that they differ from channels with
  // few flits.
  paintUse(log) {
    const use = this.shownUse();
    if (!use) {
      byId("network-legend").textContent = "The film of this point contains only power states: measure.series records flits over time.";
      this.canvas.paint(new Uint8Array(2 * this.network.links), [{ colour: css("--off"), width: 1 }]);
      return;
    }
    const top = this.top();
    const share = (value) => (log ? 1 + Math.log(value / top) / -Math.log(LOG_SPAN) : value / top);
    this.paintShares(use, share);
    const least = log ? `${written(Number((LOG_SPAN * top).toPrecision(4)))} or less` : "0";
    this.rampLegend("Utilisation", least, `${written(Number(top.toPrecision(4)))} of bandwidth`);
    this.legendOfIdle(use, "not used");
  }

  // Draws each channel in the colour of its share of the scale (0 to 1). Channels with the value 0 have a separate
  // style.
  paintShares(values, share) {
    const step = (value) => (value ? 1 + Math.min(RAMP_STEPS - 1, Math.max(0, Math.floor(RAMP_STEPS * share(value)))) : 0);
    const colours = ramp(RAMP_STEPS);
    this.canvas.paint(Uint8Array.from(values, step),
      [{ colour: css("--off"), width: 0.6, dash: true }, ...colours.map((colour, k) => ({ colour, width: 0.7 + (1.1 * k) / RAMP_STEPS }))]);
  }

  legendOfIdle(values, words) {
    const count = values.reduce((sum, value, channel) => sum + (!value && this.canvas.present[channel]), 0);
    if (count) byId("network-legend").append(this.key(css("--off"), `${words}: ${written(count)} channels`, true));
  }

  paintStates() {
    const states = report.state_order;
    const now = this.shownStates();
    if (now) {
      const present = states.filter((_, number) => now.includes(number));
      this.canvas.paint(now, states.map((state) => ({ colour: this.stateColour(state), width: state === "off" ? 0.6 : 1.1, dash: state === "off" })));
      byId("network-legend").replaceChildren(...present.map((state) => {
        const count = now.reduce((sum, each, channel) => sum + (each === states.indexOf(state) && this.canvas.present[channel]), 0);
        return this.key(this.stateColour(state), `${state}: ${written(count)} channels`, state === "off");
      }));
      return;
    }
    const cycles = this.cycles();
    const awake = Float64Array.from({ length: 2 * this.network.links }, (_, channel) => 1 - (cycles.off?.[channel] ?? 0) / this.window());
    this.paintShares(awake, (share) => share);
    this.rampLegend("Share of the window in which the link was not off", "0", "1");
    this.legendOfIdle(awake, "off during the whole window");
  }

  // Marks the channels that lead to the queues whose packets wait for each other in a cycle.
  paintStall() {
    const waits = new Set(report.waiting[this.point].map(([router, port]) => `${router} ${port}`));
    const { links } = this.network;
    const { from, to } = this.canvas;
    const ports = [decode(this.network.from_port), decode(this.network.to_port)];
    const leadsTo = (channel) => (channel < links ? `${to[channel]} ${ports[1][channel]}` : `${from[channel - links]} ${ports[0][channel - links]}`);
    const style = Uint8Array.from({ length: 2 * links }, (_, channel) => (waits.has(leadsTo(channel)) ? 1 : 0));
    const colours = [css("--off"), legible(report.states.waking)];
    this.canvas.paint(style, [{ colour: colours[0], width: 0.8 }, { colour: colours[1], width: 2 }]);
    byId("network-legend").replaceChildren(this.key(colours[1], `leads to one of the ${waits.size} queues of the wait-for cycle`), this.key(colours[0], "other channels"));
  }

  key(colour, textContent, dashed = false) {
    const line = element("span", { className: "key" });
    line.style.borderTopColor = colour;
    if (dashed) line.style.borderTopStyle = "dashed";
    return element("span", {}, line, textContent);
  }

  window() {
    return valueOf("window_cycles", this.point) || 1;
  }

  cycles() {
    return Object.fromEntries(Object.entries(this.kept.cycles).map(([state, text]) => [state, decode(text)]));
  }

  // Upper end of the scale. It is the same for all pictures of a film, so that readers can compare them. In a short
  // interval, a channel can count more flits than its bandwidth allows, because flits are counted before they are on
  // the link. The scale does not count this as a utilisation above 1.
  top() {
    if (!this.filming()) return Math.max(...chunked(this.use, Math.max), 1e-9);
    if (!this.film.top) {
      const flits = decode(this.film.flits);
      const channels = 2 * this.network.links;
      const cycles = decode(this.film.cycles);
      this.film.top = Math.max(1e-9, ...Array.from(cycles, (each, k) => Math.max(...chunked(Float64Array.from(flits.subarray(k * channels, (k + 1) * channels), (sent, channel) => sent / this.bandwidth[channel]), Math.max)) / each));
      this.film.top = Math.min(this.film.top, 1);
    }
    return this.film.top;
  }

  stateColour(state) {
    return stateColour(state, report.states[state]);
  }

  rampLegend(label, least, most) {
    const bar = element("span", { className: "ramp" });
    bar.style.background = `linear-gradient(90deg, ${ramp(RAMP_STEPS).join(", ")})`;
    byId("network-legend").replaceChildren(element("span", { textContent: label }), element("span", { textContent: least }), bar, element("span", { textContent: most }));
  }

  time() {
    if (!this.filming()) return;
    const begin = decode(this.film.from_cycle)[this.picture()];
    const end = begin + decode(this.film.cycles)[this.picture()];
    const warmup = valueOf("warmup_cycles", this.point);
    const phase = begin < warmup ? "warm-up" : begin < warmup + this.window() ? "window" : "drain";
    const [from, to] = [begin, end].map((cycles) => written(inTime(this.point, cycles)));
    byId("network-time").textContent = SHOWN.si ? `${from} to ${to} ${SHOWN.time} (${phase})` : `cycles ${from} to ${to} (${phase})`;
  }

  play() {
    const slider = byId("network-slider");
    if (this.picture() >= Number(slider.max)) slider.value = 0;
    byId("network-play").textContent = "\u23f8";
    byId("network-play").setAttribute("aria-label", "pause");
    this.timer = setInterval(() => {
      if (this.picture() >= Number(slider.max)) return this.stop();
      slider.value = this.picture() + 1;
      return this.paint();
    }, 120);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    byId("network-play").textContent = "\u25b6";
    byId("network-play").setAttribute("aria-label", "play");
  }

  // Marks a link that the reader chose in a table.
  point_out(link) {
    this.canvas.mark({ link });
    const [x1, y1, , , x2, y2] = this.canvas.curve(link);
    this.tell({ link }, (x1 + x2) / 2, (y1 + y2) / 2);
    byId("network-stage").scrollIntoView({ block: "nearest" });
  }

  tell(found, x, y) {
    this.found = found;
    this.at = [x, y];
    const tip = byId("network-tip");
    tip.hidden = !found;
    if (!found) return;
    tip.replaceChildren(...(found.router === undefined ? this.linkDetails(found.link) : this.routerDetails(found.router)));
    const stage = byId("network-stage");
    tip.style.left = `${Math.max(4, Math.min(x + 14, stage.clientWidth - tip.offsetWidth - 4))}px`;
    tip.style.top = `${Math.max(4, Math.min(y + 14, stage.clientHeight - tip.offsetHeight - 4))}px`;
  }

  linkDetails(link) {
    const { from, to } = this.canvas;
    const ports = [decode(this.network.from_port)[link], decode(this.network.to_port)[link]];
    const name = (router) => (this.network.names ? this.network.names[router] : router);
    const way = (a, p, b, q) => `${name(a)} port ${p} \u2192 ${name(b)} port ${q}`;
    const channels = [link, link + this.network.links].filter((channel) => this.canvas.present[channel]);
    const rows = this.channelRows(channels);
    rows.unshift(["router", ...channels.map((channel) => (channel === link ? way(from[link], ports[0], to[link], ports[1]) : way(to[link], ports[1], from[link], ports[0])))]);
    rows.splice(1, 0, ["channel", ...channels.map((channel) => written(this.channelNumber(channel)))]);
    const head = `${this.network.classes[decode(this.network.class)[link]]} link between ${this.routerName(from[link])} and ${this.routerName(to[link])}`;
    return [element("b", { textContent: head }), tipTable(rows)];
  }

  channelNumber(channel) {
    const links = this.network.links;
    return (channel < links ? decode(this.network.forward)[channel] : decode(this.network.backward)[channel - links]) - 1;
  }

  // Rows of the details about a link: a name, then a value for each of its channels.
  channelRows(channels) {
    const each = (name, of) => [name, ...channels.map(of)];
    const flits = decode(this.kept.flits);
    const rows = [];
    if (this.filming()) {
      const use = this.shownUse();
      const states = this.shownStates();
      if (use) rows.push(each("utilisation now [share of bandwidth]", (channel) => written(use[channel], 4)));
      rows.push(each("power state now", (channel) => report.state_order[states[channel]]));
    }
    rows.push(each("flits in the window", (channel) => written(flits[channel])));
    rows.push(each("utilisation [share of bandwidth]", (channel) => written(this.use[channel], 4)));
    for (const [state, cycles] of Object.entries(this.cycles())) rows.push(each(`cycles ${state}`, (channel) => written(cycles[channel])));
    rows.push(each("transitions", (channel) => written(decode(this.kept.transitions)[channel])));
    rows.push(each("energy", (channel) => si(decode(this.kept.energy_j)[channel], "J", 4)));
    return rows;
  }

  routerName(router) {
    const { names, coordinates } = this.network;
    if (names) return `router ${names[router]}`;
    return coordinates.length ? `router ${router} (${coordinates[router].join(", ")})` : `router ${router}`;
  }

  routerDetails(router) {
    const { from, to } = this.canvas;
    const terminals = this.kept.terminals;
    let links = 0;
    let sent = 0;
    let received = 0;
    const flits = decode(this.kept.flits);
    for (let link = 0; link < from.length; link++) {
      if (from[link] !== router && to[link] !== router) continue;
      const [out, back] = from[link] === router ? [link, link + from.length] : [link + from.length, link];
      links += 1;
      sent += flits[out];
      received += flits[back];
    }
    const rows = [
      ["terminals", written(decode(terminals.count)[router])],
      ["flits from its terminals", written(decode(terminals.injected)[router])],
      ["flits to its terminals", written(decode(terminals.ejected)[router])],
      ["links to routers", written(links)],
      ["flits sent over them", written(sent)],
      ["flits received over them", written(received)],
    ];
    return [element("b", { textContent: this.routerName(router) }), tipTable(rows)];
  }
}

function tipTable(rows) {
  return element("table", {}, element("tbody", {}, ...rows.map(([name, ...values]) => element("tr", {}, element("th", { textContent: name, scope: "row" }), ...values.map((textContent) => element("td", { textContent }))))));
}

function options(id, wanted) {
  const select = byId(id);
  const before = select.value;
  select.replaceChildren(...wanted.map(([value, textContent]) => element("option", { value, textContent })));
  if (wanted.some(([value]) => value === before)) select.value = before;
}

function absence(point, kept) {
  if (kept) return "No link connects two routers of this network, so there is nothing to draw.";
  return report.unreadable[point] ?? "This page does not contain the channels of this point, because its room is limited; the table of points shows which points have channels.";
}

function words(network, film) {
  const told = [`${written(network.routers)} routers, ${written(network.links)} links; ${network.words}. Each link is drawn as two lines, with each direction on its right side; at a small scale as one line, in the colour of the busier direction.`];
  if (network.left_out) told.push(`${written(network.left_out)} links are not drawn; the drawing shows the links with the most flits.`);
  if (!film) told.push("To see changes over time, record them with measure.series: {every: 100cycles, of: channel} or measure.link_states: {}; the page shows as many points as it has room for.");
  told.push("Drag to move the drawing; click, then turn the wheel (or press + and -) to zoom.");
  return told.join(" ");
}
