// The layout: each heading is an island with a place of its own, and within it springs along the edges and repulsion by a
// quadtree arrange its nodes. The same graph gives the same picture: only sums, products and square roots are used, and
// chance comes from a seed.

function seeded(seed) {
  let state = seed >>> 0;
  return () => { state = (Math.imul(state, 1664525) + 1013904223) >>> 0; return state / 4294967296; };
}

// Places nodes {x, y, radius, group} in blocks, one for each group, the largest in the middle; `gap` is between two nodes.
// Each node's `home` is the middle of its block.
function placeAtFirst(nodes, gap) {
  const groups = new Map();
  for (const node of nodes) {
    if (!groups.has(node.group)) groups.set(node.group, []);
    groups.get(node.group).push(node);
  }
  const random = seeded(7);
  const blocks = [...groups.entries()].sort((a, b) => b[1].length - a[1].length || (a[0] < b[0] ? -1 : 1));
  const placed = [];
  for (const [, members] of blocks) {
    const side = Math.ceil(Math.sqrt(members.length));
    const size = (side + 1) * gap;
    const home = freePlace(placed, size);
    placed.push({ ...home, size });
    members.forEach((node, n) => {
      node.home = home;
      node.x = home.x + (n % side - side / 2) * gap + random() * 8;
      node.y = home.y + (Math.floor(n / side) - side / 2) * gap + random() * 8;
    });
  }
}

// The free place nearest to the middle for a square block, along a square spiral.
function freePlace(placed, size) {
  const step = Math.max(30, size / 4);
  for (let ring = 0; ; ring++) {
    let best = null;
    for (let i = -ring; i <= ring; i++) {
      for (const [x, y] of [[i, -ring], [i, ring], [-ring, i], [ring, i]]) {
        const at = { x: x * step * 1.25, y: y * step };
        const clear = placed.every((p) => Math.abs(p.x - at.x) >= (p.size + size) / 2 || Math.abs(p.y - at.y) >= (p.size + size) / 2);
        const far = at.x * at.x / 2.2 + at.y * at.y; // as wide as a screen
        if (clear && (best === null || far < best.far)) best = { ...at, far };
      }
    }
    if (best) return best;
  }
}

function quadtree(nodes) {
  let x0 = Infinity, y0 = Infinity, x1 = -Infinity, y1 = -Infinity;
  for (const n of nodes) { x0 = Math.min(x0, n.x); y0 = Math.min(y0, n.y); x1 = Math.max(x1, n.x); y1 = Math.max(y1, n.y); }
  const size = Math.max(x1 - x0, y1 - y0, 1) + 1;
  const root = { x: x0, y: y0, size, mass: 0, cx: 0, cy: 0, node: null, cells: null };
  for (const node of nodes) insert(root, node);
  return root;
}

function insert(cell, node) {
  for (let depth = 0; ; depth++) {
    cell.cx = (cell.cx * cell.mass + node.x) / (cell.mass + 1);
    cell.cy = (cell.cy * cell.mass + node.y) / (cell.mass + 1);
    cell.mass += 1;
    if (cell.mass === 1) { cell.node = node; return; }
    if (depth > 24) return; // in one place: the mass is what counts
    if (!cell.cells) {
      cell.cells = [null, null, null, null];
      const other = cell.node;
      cell.node = null;
      if (other) { const sub = childOf(cell, other); sub.mass = 1; sub.cx = other.x; sub.cy = other.y; sub.node = other; }
    }
    cell = childOf(cell, node);
  }
}

function childOf(cell, node) {
  const half = cell.size / 2;
  const right = node.x >= cell.x + half ? 1 : 0, down = node.y >= cell.y + half ? 1 : 0;
  const n = right + 2 * down;
  if (!cell.cells[n]) {
    cell.cells[n] = { x: cell.x + right * half, y: cell.y + down * half, size: half, mass: 0, cx: 0, cy: 0, node: null, cells: null };
  }
  return cell.cells[n];
}

const THETA2 = 0.9;

function repel(root, node, strength, reach) {
  const stack = [root];
  while (stack.length) {
    const cell = stack.pop();
    if (!cell || cell.mass === 0 || cell.node === node) continue;
    const dx = node.x - cell.cx, dy = node.y - cell.cy;
    const d2 = dx * dx + dy * dy;
    if (cell.cells && cell.size * cell.size > THETA2 * d2) { for (const child of cell.cells) if (child) stack.push(child); continue; }
    if (d2 > reach * reach) continue;
    const force = strength * cell.mass / Math.max(d2, 25);
    const d = Math.sqrt(Math.max(d2, 0.01));
    node.vx += force * dx / d;
    node.vy += force * dy / d;
  }
}

// One step at a temperature between 1 and 0; `gap` is how far apart two nodes are to be.
function tick(nodes, edges, heat, gap) {
  const root = quadtree(nodes);
  for (const node of nodes) {
    node.vx = (node.home.x - node.x) * 0.02;
    node.vy = (node.home.y - node.y) * 0.02;
    repel(root, node, gap * gap * 0.3, gap * 3);
  }
  for (const edge of edges) {
    const dx = edge.b.x - edge.a.x, dy = edge.b.y - edge.a.y;
    const d = Math.sqrt(dx * dx + dy * dy) || 1;
    const pull = edge.strength * (d - gap * edge.length) / d;
    const share = edge.b.degree / (edge.a.degree + edge.b.degree);
    edge.a.vx += dx * pull * share; edge.a.vy += dy * pull * share;
    edge.b.vx -= dx * pull * (1 - share); edge.b.vy -= dy * pull * (1 - share);
  }
  for (const node of nodes) {
    const speed = Math.sqrt(node.vx * node.vx + node.vy * node.vy) || 1;
    const step = Math.min(speed, gap * heat + 0.5) / speed * (0.15 + 0.85 * heat);
    node.x += node.vx * step; node.y += node.vy * step;
  }
}

// Moves apart what still covers each other, so that every node can be seen and pointed at.
function separate(nodes) {
  const size = 26;
  for (let round = 0; round < 12; round++) {
    const cells = new Map();
    for (const node of nodes) {
      const key = `${Math.floor(node.x / size)},${Math.floor(node.y / size)}`;
      if (!cells.has(key)) cells.set(key, []);
      cells.get(key).push(node);
    }
    let moved = false;
    for (const node of nodes) {
      const cx = Math.floor(node.x / size), cy = Math.floor(node.y / size);
      for (let i = -1; i <= 1; i++) for (let j = -1; j <= 1; j++) {
        for (const other of cells.get(`${cx + i},${cy + j}`) || []) {
          if (other.index <= node.index) continue;
          const least = node.radius + other.radius + 5;
          const dx = other.x - node.x || 0.1 * (node.index % 2 ? 1 : -1), dy = other.y - node.y || 0.1;
          const d = Math.sqrt(dx * dx + dy * dy);
          if (d >= least) continue;
          const push = (least - d) / d / 2;
          node.x -= dx * push; node.y -= dy * push; other.x += dx * push; other.y += dy * push;
          moved = true;
        }
      }
    }
    if (!moved) return;
  }
}
