// Drawing: what is on the canvas, in the colours of the page, with labels that never cover each other.

const LABEL_FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const DASHES = { contradicts: [6, 4], has_tag: [2, 3], in_cluster: [2, 3] };
const ARROWS = new Set(["supersedes", "derived_from", "depends_on"]);

class Drawing {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.view = { x: 0, y: 0, k: 1 };
    this.widths = new Map();
    this.readColours();
  }

  readColours() {
    const style = getComputedStyle(document.documentElement);
    this.colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const names = ["bg", "text", "soft", "halo", "group", "mark", "focus", "edge", "tag", "cluster", "supersedes", "contradicts",
      "derived_from", "depends_on", "relates_to", "has_tag", "in_cluster", ...Array.from({ length: 12 }, (_, n) => `c${n}`)];
    this.colours = Object.fromEntries(names.map((name) => [name, this.colour(name)]));
  }

  resize() {
    const box = this.canvas.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
    this.width = box.width; this.height = box.height;
    this.canvas.width = Math.round(box.width * ratio); this.canvas.height = Math.round(box.height * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  toScreen(node) { return [(node.x - this.view.x) * this.view.k + this.width / 2, (node.y - this.view.y) * this.view.k + this.height / 2]; }
  toWorld(x, y) { return [(x - this.width / 2) / this.view.k + this.view.x, (y - this.height / 2) / this.view.k + this.view.y]; }

  fit(nodes) {
    if (!nodes.length) return;
    let x0 = Infinity, y0 = Infinity, x1 = -Infinity, y1 = -Infinity;
    for (const n of nodes) { x0 = Math.min(x0, n.x); y0 = Math.min(y0, n.y); x1 = Math.max(x1, n.x); y1 = Math.max(y1, n.y); }
    const room = (size, span, margin) => (size - margin) / Math.max(span, 1);
    const k = Math.min(room(this.width, x1 - x0, 190), room(this.height, y1 - y0, 110), 1.5);
    this.view = { x: (x0 + x1) / 2 + 40 / Math.max(k, 0.02), y: (y0 + y1) / 2 - 14 / Math.max(k, 0.02), k: Math.max(k, 0.02) };
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const [wx, wy] = this.toWorld(x, y);
    const k = Math.min(8, Math.max(0.02, this.view.k * factor));
    this.view = { k, x: wx - (x - this.width / 2) / k, y: wy - (y - this.height / 2) / k };
  }

  // `state` has the nodes and edges to show, the groups, what is selected or pointed at, and what a search found.
  draw(state) {
    const c = this.context;
    c.fillStyle = this.colours.bg;
    c.fillRect(0, 0, this.width, this.height);
    const near = new Set();
    const focus = state.hovered || state.selected;
    if (focus) for (const edge of focus.edges) if (edge.shown) { near.add(edge.a); near.add(edge.b); }
    const isDim = (node) => node !== focus && !near.has(node) && (state.found ? !state.found.has(node) : Boolean(focus));
    for (const edge of state.edges) this.drawEdge(edge, focus, state);
    c.globalAlpha = 1;
    for (const node of state.nodes) this.drawNode(node, isDim(node), node === state.selected, node === state.hovered);
    c.globalAlpha = 1;
    const taken = new Map();
    this.drawHeadings(state, taken);
    this.drawLabels(state, focus, near, isDim, taken);
  }

  drawHeadings(state, taken) {
    const c = this.context;
    if (state.groups.length < 2) return;
    c.textAlign = "center"; c.textBaseline = "middle"; c.lineJoin = "round";
    for (const group of state.groups) {
      const size = Math.max(13, Math.min(26, 11 + Math.sqrt(group.size)));
      const [x, top] = this.toScreen(group), y = top - size / 2 - 5;
      c.font = `600 ${size}px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif`;
      const width = c.measureText(group.name).width;
      if (!take(taken, [x - width / 2 - 3, y - size / 2 - 1, x + width / 2 + 3, y + size / 2 + 1])) continue;
      c.lineWidth = 4; c.strokeStyle = this.colours.halo; c.strokeText(group.name, x, y);
      c.fillStyle = this.colours.soft; c.fillText(group.name, x, y);
    }
  }

  drawEdge(edge, focus, state) {
    const c = this.context, [x0, y0] = this.toScreen(edge.a), [x1, y1] = this.toScreen(edge.b);
    if (Math.max(x0, x1) < -20 || Math.min(x0, x1) > this.width + 20 || Math.max(y0, y1) < -20 || Math.min(y0, y1) > this.height + 20) return;
    const isNear = focus && (edge.a === focus || edge.b === focus);
    const isFound = state.found && state.found.has(edge.a) && state.found.has(edge.b);
    const isFaint = edge.relation === "has_tag" || edge.relation === "in_cluster";
    const isFar = edge.a.group !== edge.b.group;
    c.globalAlpha = isNear ? 1 : focus || (state.found && !isFound) ? 0.07 : isFar ? 0.2 : isFaint ? 0.5 : 0.8;
    c.strokeStyle = this.colours[edge.relation] || this.colours.edge;
    c.lineWidth = (isNear ? 2 : isFaint ? 0.7 : 1.3) * Math.min(1.4, Math.max(0.6, this.view.k));
    c.setLineDash(DASHES[edge.relation] || []);
    c.beginPath(); c.moveTo(x0, y0); c.lineTo(x1, y1); c.stroke();
    c.setLineDash([]);
    if (ARROWS.has(edge.relation) && this.view.k > 0.35) this.drawArrow(x0, y0, x1, y1, this.radiusOf(edge.b));
  }

  drawArrow(x0, y0, x1, y1, radius) {
    const c = this.context, dx = x1 - x0, dy = y1 - y0, d = Math.sqrt(dx * dx + dy * dy);
    if (d < radius + 8) return;
    const ux = dx / d, uy = dy / d, tx = x1 - ux * (radius + 2), ty = y1 - uy * (radius + 2), size = 6;
    c.fillStyle = c.strokeStyle;
    c.beginPath(); c.moveTo(tx, ty);
    c.lineTo(tx - ux * size - uy * size * 0.55, ty - uy * size + ux * size * 0.55);
    c.lineTo(tx - ux * size + uy * size * 0.55, ty - uy * size - ux * size * 0.55);
    c.fill();
  }

  radiusOf(node) { return Math.max(1.8, node.radius * Math.min(1.7, Math.max(0.32, this.view.k))); }

  drawNode(node, isDim, isSelected, isHovered) {
    const c = this.context, [x, y] = this.toScreen(node), r = this.radiusOf(node);
    if (x < -r || y < -r || x > this.width + r || y > this.height + r) return;
    c.globalAlpha = isDim ? 0.18 : 1;
    c.beginPath();
    if (node.type === "tag") { c.moveTo(x, y - r); c.lineTo(x + r, y); c.lineTo(x, y + r); c.lineTo(x - r, y); c.closePath(); }
    else if (node.type === "cluster") c.rect(x - r, y - r * 0.8, 2 * r, 1.6 * r);
    else c.arc(x, y, r, 0, 7);
    const colour = node.type === "memory" ? this.colours[node.colour] : this.colours[node.type];
    const isHollow = node.superseded || node.forgotten;
    c.fillStyle = isHollow ? this.colours.bg : colour;
    c.fill();
    c.strokeStyle = isHollow ? colour : this.colours.bg;
    c.lineWidth = isHollow ? 1.6 : 1;
    c.setLineDash(isHollow ? [3, 2] : []); c.stroke(); c.setLineDash([]);
    if (node.pinned || node.untrusted) ring(c, x, y, r + 2.5, node.untrusted ? this.colours.contradicts : colour, 1.5);
    if (isSelected || isHovered) ring(c, x, y, r + 5, this.colours.focus, isSelected ? 2.5 : 1.5);
  }

  drawLabels(state, focus, near, isDim, grid) {
    const c = this.context;
    c.font = LABEL_FONT; c.textAlign = "left"; c.textBaseline = "middle"; c.lineJoin = "round";
    const rank = (node) => (node === focus ? 8 : 0) + (node === state.selected ? 6 : 0) + (near.has(node) ? 4 : 0)
      + (state.found && state.found.has(node) ? 3 : 0) + (node.root ? 2 : 0);
    const ranked = state.nodes.filter((node) => !isDim(node) && this.isOnScreen(node))
      .map((node) => [rank(node), node]).sort((a, b) => b[0] - a[0] || b[1].weight - a[1].weight || a[1].index - b[1].index);
    for (const node of state.nodes) if (this.isOnScreen(node)) this.reserve(grid, node);
    let left = this.view.k < 0.45 ? 60 : 400;
    for (const [place, node] of ranked) {
      if (left <= 0 && place === 0) break;
      const [x, y] = this.toScreen(node), r = this.radiusOf(node), text = node.short;
      if (!this.widths.has(text)) this.widths.set(text, c.measureText(text).width);
      const width = this.widths.get(text);
      const spots = [[x + r + 4, y], [x - r - 4 - width, y], [x - width / 2, y + r + 9], [x - width / 2, y - r - 9]];
      const spot = spots.find(([sx, sy]) => sx > 2 && sx + width < this.width - 2 && take(grid, [sx - 2, sy - 8, sx + width + 2, sy + 8], place > 1));
      if (!spot) continue;
      left -= 1;
      c.lineWidth = 3.5; c.strokeStyle = this.colours.halo; c.strokeText(text, spot[0], spot[1]);
      c.fillStyle = node.type === "memory" ? this.colours.text : this.colours.soft;
      c.fillText(text, spot[0], spot[1]);
    }
  }

  // A label may cover no node, unless it is of one that somebody looks at.
  reserve(grid, node) {
    const [x, y] = this.toScreen(node), r = this.radiusOf(node) - 0.5;
    put(grid, [x - r, y - r, x + r, y + r, "node"]);
  }

  isOnScreen(node) {
    const [x, y] = this.toScreen(node);
    return x > -80 && y > -20 && x < this.width + 20 && y < this.height + 20;
  }
}

function ring(c, x, y, r, colour, width) {
  c.beginPath(); c.arc(x, y, r, 0, 7); c.strokeStyle = colour; c.lineWidth = width; c.stroke();
}

function overlaps(a, b) { return a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]; }

function cellsOf(box) {
  const size = 64, cells = [];
  for (let i = Math.floor(box[0] / size); i <= Math.floor(box[2] / size); i++)
    for (let j = Math.floor(box[1] / size); j <= Math.floor(box[3] / size); j++) cells.push(i * 4096 + j);
  return cells;
}

function put(grid, box) {
  for (const cell of cellsOf(box)) { if (!grid.has(cell)) grid.set(cell, []); grid.get(cell).push(box); }
}

// Takes a box of the screen if nothing has it yet; with `overNodes` nodes do not count.
function take(grid, box, overNodes = false) {
  const isFree = cellsOf(box).every((cell) => (grid.get(cell) || []).every((other) => (overNodes && other[4]) || !overlaps(box, other)));
  if (isFree) put(grid, box);
  return isFree;
}
