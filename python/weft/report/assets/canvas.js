"use strict";
// Draws a network on a canvas: routers, and links with their two directions. Also handles zoom, pan, and the router or
// link under the pointer. This file has only geometry and styles of lines. network.js chooses the styles, for example
// by utilisation.

// If a unit of the drawing (the distance of neighbouring routers) has fewer pixels than this number, each link is drawn
// as one line and not as two directions.
const FAR = 14;

class NetworkCanvas {
  constructor(base, overlay) {
    this.base = base;
    this.overlay = overlay;
    this.scale = 1;
    this.left = 0;
    this.top = 0;
    this.network = null;
    this.styles = [];
    this.lastDraw = 0; // duration of the last drawing of all links [ms]
    new ResizeObserver(() => this.resized()).observe(base);
    this.listen();
  }

  // Loads the positions of the routers and the ends of the links. At first the canvas shows the whole network.
  show(network) {
    this.network = network;
    this.x = decode(network.x);
    this.y = decode(network.y);
    this.bend = decode(network.bend);
    this.from = decode(network.from);
    this.to = decode(network.to);
    this.present = channelPresence(network);
    this.fit();
  }

  // Sets the look of each channel: `style[channel]` is an index in `styles` ({colour, width, dash}). Later styles are
  // drawn above earlier ones.
  paint(style, styles) {
    this.styles = styles;
    const links = this.from.length;
    // If a link is drawn as one line, the line has the later style of its two directions.
    const upper = (channel) => {
      const other = channel < links ? channel + links : channel - links;
      return !this.present[other] || style[channel] > style[other] || (style[channel] === style[other] && channel < links);
    };
    this.both = this.sorted(style, (channel) => this.present[channel]);
    this.single = this.sorted(style, (channel) => this.present[channel] && upper(channel));
    this.draw();
  }

  // The wanted channels, sorted by style, and the index of the first channel of each style.
  sorted(style, wanted) {
    const begins = new Uint32Array(this.styles.length + 1);
    for (let channel = 0; channel < style.length; channel++) if (wanted(channel)) begins[style[channel] + 1]++;
    for (let each = 0; each < this.styles.length; each++) begins[each + 1] += begins[each];
    const next = begins.slice();
    const channels = new Uint32Array(begins[this.styles.length]);
    for (let channel = 0; channel < style.length; channel++) if (wanted(channel)) channels[next[style[channel]]++] = channel;
    return { begins, channels };
  }

  fit() {
    const bounds = this.bounds();
    const width = Math.max(bounds[1] - bounds[0], 1) + 1;
    const height = Math.max(bounds[3] - bounds[2], 1) + 1;
    this.scale = Math.min(this.base.clientWidth / width, this.base.clientHeight / height, 160);
    this.whole = this.scale;
    this.left = this.base.clientWidth / 2 - (this.scale * (bounds[0] + bounds[1])) / 2;
    this.top = this.base.clientHeight / 2 - (this.scale * (bounds[2] + bounds[3])) / 2;
  }

  // Extent of the drawing (left, right, upper and lower end), from all routers and the middles of all links.
  bounds() {
    const { x, y } = this;
    const found = [Infinity, -Infinity, Infinity, -Infinity];
    const reach = (px, py) => {
      found[0] = Math.min(found[0], px);
      found[1] = Math.max(found[1], px);
      found[2] = Math.min(found[2], py);
      found[3] = Math.max(found[3], py);
    };
    x.forEach((_, router) => reach(x[router], y[router]));
    this.bend.forEach((bend, link) => {
      const [a, b] = [this.from[link], this.to[link]];
      const length = Math.hypot(x[b] - x[a], y[b] - y[a]) || 1;
      reach((x[a] + x[b]) / 2 + ((y[b] - y[a]) / length) * bend, (y[a] + y[b]) / 2 - ((x[b] - x[a]) / length) * bend);
    });
    return found;
  }

  resized() {
    if (printing()) return; // a drawing after the change of size would be too late for printing
    for (const canvas of [this.base, this.overlay]) {
      canvas.width = Math.round(canvas.clientWidth * devicePixelRatio);
      canvas.height = Math.round(canvas.clientHeight * devicePixelRatio);
    }
    if (this.network && this.base.clientWidth) {
      this.fit();
      this.draw();
    }
  }

  context(canvas) {
    const context = canvas.getContext("2d");
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    context.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
    context.lineCap = "round";
    return context;
  }

  draw() {
    if (!this.network || !this.both) return;
    const began = performance.now();
    const context = this.context(this.base);
    // If there are many links per area, the lines are thinner.
    const crowd = Math.sqrt((this.base.clientWidth * this.base.clientHeight) / (this.from.length + 1)) / 70;
    const thick = Math.min(Math.max(this.scale * 0.03, 0.6), 2.6) * Math.min(Math.max((crowd * this.scale) / this.whole, 0.5), 1);
    const { begins, channels } = this.scale < FAR ? this.single : this.both;
    this.styles.forEach((style, number) => {
      context.strokeStyle = style.colour;
      context.lineWidth = thick * style.width;
      context.setLineDash(style.dash ? [4, 5] : []);
      context.beginPath();
      for (let place = begins[number]; place < begins[number + 1]; place++) this.trace(context, channels[place]);
      context.stroke();
    });
    context.setLineDash([]);
    this.drawRouters(context);
    this.lastDraw = performance.now() - began;
    this.mark(this.marked);
  }

  // Ends and control point of a channel's curve on the canvas. The two channels of a link are next to each other, each
  // on the right in its direction.
  curve(channel) {
    const links = this.from.length;
    const link = channel % links;
    const back = channel >= links;
    const a = back ? this.to[link] : this.from[link];
    const b = back ? this.from[link] : this.to[link];
    const x1 = this.left + this.scale * this.x[a];
    const y1 = this.top + this.scale * this.y[a];
    const x2 = this.left + this.scale * this.x[b];
    const y2 = this.top + this.scale * this.y[b];
    const dx = x2 - x1;
    const dy = y2 - y1;
    const length = Math.hypot(dx, dy) || 1;
    const aside = Math.min(Math.max(this.scale * 0.025, 0.5), 3.2);
    const bend = 2 * this.scale * (back ? -this.bend[link] : this.bend[link]);
    const ox = (-dy / length) * aside;
    const oy = (dx / length) * aside;
    // The last value is false if the bend is less than two pixels; the channel is then drawn as a straight line.
    return [x1 + ox, y1 + oy, (x1 + x2) / 2 + ox + (dy / length) * bend, (y1 + y2) / 2 + oy - (dx / length) * bend, x2 + ox, y2 + oy, Math.abs(bend) > 4];
  }

  trace(context, channel) {
    const [x1, y1, cx, cy, x2, y2, bent] = this.curve(channel);
    const width = this.base.clientWidth;
    const height = this.base.clientHeight;
    if (Math.max(x1, x2, cx) < 0 || Math.max(y1, y2, cy) < 0 || Math.min(x1, x2, cx) > width || Math.min(y1, y2, cy) > height) return;
    context.moveTo(x1, y1);
    if (bent) context.quadraticCurveTo(cx, cy, x2, y2);
    else context.lineTo(x2, y2);
  }

  radius() {
    return Math.min(Math.max(this.scale * 0.13, 1.2), 15);
  }

  drawRouters(context) {
    const radius = this.radius();
    context.fillStyle = css("--router");
    context.strokeStyle = css("--ink");
    context.lineWidth = radius > 4 ? 1.2 : 0.6;
    if (radius < 2) {
      context.fillStyle = css("--ink");
      for (let router = 0; router < this.x.length; router++) {
        const [x, y] = this.place(router);
        context.fillRect(x - radius / 2, y - radius / 2, radius, radius);
      }
      return;
    }
    context.beginPath();
    for (let router = 0; router < this.x.length; router++) {
      const [x, y] = this.place(router);
      context.moveTo(x + radius, y);
      context.arc(x, y, radius, 0, 7);
    }
    context.fill();
    context.stroke();
    if (radius < 8) return;
    context.fillStyle = css("--ink");
    context.font = `${Math.round(radius * 0.85)}px system-ui, sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (let router = 0; router < this.x.length; router++) context.fillText(router, ...this.place(router));
  }

  place(router) {
    return [this.left + this.scale * this.x[router], this.top + this.scale * this.y[router]];
  }

  // The router or link nearest to the position (x, y) on the canvas: {router} or {link}; null if none is near.
  under(x, y) {
    let best = null;
    let nearest = Math.max(this.radius(), 5) + 2;
    for (let router = 0; router < this.x.length; router++) {
      const [rx, ry] = this.place(router);
      const distance = Math.hypot(rx - x, ry - y);
      if (distance < nearest) [nearest, best] = [distance, { router }];
    }
    if (best) return best;
    nearest = 8;
    for (let link = 0; link < this.from.length; link++) {
      const distance = this.distance(link, x, y, nearest);
      if (distance < nearest) [nearest, best] = [distance, { link }];
    }
    return best;
  }

  distance(link, x, y, limit) {
    const [x1, y1, cx, cy, x2, y2, bent] = this.curve(link);
    if (Math.min(x1, x2, cx) > x + limit || Math.max(x1, x2, cx) < x - limit || Math.min(y1, y2, cy) > y + limit || Math.max(y1, y2, cy) < y - limit) return Infinity;
    const pieces = bent ? 12 : 1;
    let nearest = Infinity;
    let [ax, ay] = [x1, y1];
    for (let piece = 1; piece <= pieces; piece++) {
      const t = piece / pieces;
      const bx = (1 - t) ** 2 * x1 + 2 * t * (1 - t) * cx + t * t * x2;
      const by = (1 - t) ** 2 * y1 + 2 * t * (1 - t) * cy + t * t * y2;
      const square = (bx - ax) ** 2 + (by - ay) ** 2 || 1;
      const along = Math.min(Math.max(((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / square, 0), 1);
      nearest = Math.min(nearest, Math.hypot(ax + along * (bx - ax) - x, ay + along * (by - ay) - y));
      [ax, ay] = [bx, by];
    }
    return nearest;
  }

  // Marks a link or router: draws it again, above all others.
  mark(found) {
    this.marked = found;
    const context = this.context(this.overlay);
    if (!found || !this.network) return;
    context.strokeStyle = css("--accent");
    context.lineWidth = 4;
    context.beginPath();
    if (found.link !== undefined) {
      this.trace(context, found.link);
      this.trace(context, found.link + this.from.length);
    } else {
      context.arc(...this.place(found.router), this.radius() + 3, 0, 7);
    }
    context.stroke();
  }

  zoom(factor, x = this.base.clientWidth / 2, y = this.base.clientHeight / 2) {
    const scale = Math.min(Math.max(this.scale * factor, this.whole / 2), 400);
    this.left = x - ((x - this.left) * scale) / this.scale;
    this.top = y - ((y - this.top) * scale) / this.scale;
    this.scale = scale;
    this.later();
  }

  move(dx, dy) {
    this.left += dx;
    this.top += dy;
    this.later();
  }

  // Draws the network at the next frame of the screen, only once for all events before.
  later() {
    if (this.waits) return;
    this.waits = true;
    requestAnimationFrame(() => {
      this.waits = false;
      this.draw();
    });
  }

  listen() {
    const fingers = new Map();
    this.base.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && document.activeElement !== this.base) return; // the page scrolls, unless the drawing has the focus
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY);
    }, { passive: false });
    this.base.addEventListener("pointerdown", (event) => {
      this.base.focus({ preventScroll: true });
      this.base.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
    });
    this.base.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (!before) {
        this.hover(event.offsetX, event.offsetY);
        return;
      }
      const now = [event.offsetX, event.offsetY];
      const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
      if (other) this.zoom(Math.hypot(now[0] - other[0], now[1] - other[1]) / (Math.hypot(before[0] - other[0], before[1] - other[1]) || 1), ...other);
      else this.move(now[0] - before[0], now[1] - before[1]);
      fingers.set(event.pointerId, now);
    });
    for (const end of ["pointerup", "pointercancel"]) this.base.addEventListener(end, (event) => fingers.delete(event.pointerId));
    this.base.addEventListener("pointerleave", () => this.onHover?.(null));
    this.base.addEventListener("dblclick", (event) => this.zoom(2, event.offsetX, event.offsetY));
    this.base.addEventListener("keydown", (event) => {
      const step = 60;
      const moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
      if (moves[event.key]) this.move(...moves[event.key]);
      else if (event.key === "+" || event.key === "=") this.zoom(1.4);
      else if (event.key === "-") this.zoom(1 / 1.4);
      else if (event.key === "0") {
        this.fit();
        this.later();
      } else return;
      event.preventDefault();
    });
  }

  hover(x, y) {
    if (!this.network) return;
    const found = this.under(x, y);
    this.mark(found);
    this.onHover?.(found, x, y);
  }
}

// The minimum or maximum of an array (`pick` is Math.min or Math.max), from parts of it, because a call with all
// numbers as arguments can fail.
function chunked(array, pick) {
  const parts = [];
  for (let begin = 0; begin < array.length; begin += 10000) parts.push(pick(...array.subarray(begin, begin + 10000)));
  return parts;
}
