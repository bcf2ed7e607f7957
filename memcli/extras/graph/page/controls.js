// What keys and the pointer do, and the start.

const STEPS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

// The nearest node in a direction, what is tied to the selected one counting as half as far.
function inDirection([dx, dy]) {
  const from = state.selected;
  if (!from) return state.nodes.find((node) => node.root) || state.nodes.reduce((best, node) => (!best || node.weight > best.weight ? node : best), null);
  let best = null, least = Infinity;
  for (const node of state.nodes) {
    const x = node.x - from.x, y = node.y - from.y, along = x * dx + y * dy, across = Math.abs(x * dy) + Math.abs(y * dx);
    if (node === from || along <= 0 || across > along * 1.5) continue;
    const isTied = from.edges.some((edge) => edge.shown && (edge.a === node || edge.b === node));
    const far = (along + 2 * across) * (isTied ? 0.5 : 1);
    if (far < least) { least = far; best = node; }
  }
  return best;
}

function neighbour(step) {
  const from = state.pivot && state.pivot.edges.some((edge) => edge.a === state.selected || edge.b === state.selected) ? state.pivot : state.selected;
  if (!from) return null;
  state.pivot = from;
  const found = [...new Set(from.edges.filter((edge) => edge.shown).map((edge) => (edge.a === from ? edge.b : edge.a)))].filter((node) => node !== from);
  const at = found.indexOf(state.selected) + step;
  return at >= 0 && at < found.length ? found[at] : null;
}

function onGraphKey(event) {
  if (STEPS[event.key]) { event.preventDefault(); state.pivot = null; const next = inDirection(STEPS[event.key]); if (next) select(next, true); return; }
  if (event.key === "Tab") { // past the last neighbour, the focus goes on as everywhere
    const next = neighbour(event.shiftKey ? -1 : 1);
    if (next) { event.preventDefault(); select(next, true); }
  } else if (event.key === "Enter" && state.selected) $("details").focus();
}

function onListKey(event) {
  const at = state.listed.indexOf(state.selected);
  const to = { ArrowDown: at + 1, ArrowUp: Math.max(0, at - 1), Home: 0, End: state.listed.length - 1 }[event.key];
  if (to !== undefined && state.listed[to]) { event.preventDefault(); select(state.listed[to], true); }
  else if (event.key === "Enter" && state.selected) $("details").focus();
}

function onKey(event) {
  const isTyping = ["INPUT", "SELECT", "TEXTAREA"].includes(document.activeElement.tagName) && document.activeElement.type !== "checkbox";
  if (event.key === "Escape") { goBack(); return; }
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") { event.preventDefault(); $("search").focus(); $("search").select(); }
  else if (event.key === "l") $("nodes").focus();
  else if (event.key === "+" || event.key === "=") { drawing.zoom(1.3); show(); }
  else if (event.key === "-") { drawing.zoom(1 / 1.3); show(); }
  else if (event.key === "0") { drawing.fit(state.nodes); show(); }
}

function goBack() {
  if (!$("keys").hidden) { toggleKeys(); return; }
  if (document.activeElement === $("search") && $("search").value) { $("search").value = ""; search(); return; }
  if (document.activeElement === $("details") || $("details").contains(document.activeElement) || document.activeElement === $("search")) { $("graph").focus(); return; }
  const before = state.trail.pop();
  if (before) { state.selected = null; select(before, true); } else select(null);
}

function toggleKeys() {
  $("keys").hidden = !$("keys").hidden;
  $("help").setAttribute("aria-expanded", String(!$("keys").hidden));
}

function nodeAt(x, y) {
  let best = null, least = 12;
  for (const node of state.nodes) {
    const [nx, ny] = drawing.toScreen(node), d = Math.sqrt((nx - x) ** 2 + (ny - y) ** 2) - drawing.radiusOf(node);
    if (d < least) { least = d; best = node; }
  }
  return least < 6 ? best : null;
}

function addPointer(canvas) {
  let from = null, hasMoved = false;
  const place = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  canvas.addEventListener("pointerdown", (event) => { from = place(event); hasMoved = false; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    if (from) {
      if (Math.abs(x - from[0]) + Math.abs(y - from[1]) > 3) hasMoved = true;
      drawing.view.x -= (x - from[0]) / drawing.view.k; drawing.view.y -= (y - from[1]) / drawing.view.k;
      from = [x, y]; show();
      return;
    }
    const node = nodeAt(x, y);
    if (node !== state.hovered) { state.hovered = node; canvas.title = node ? `${node.label}\n${node.summary || ""}` : ""; show(); }
  });
  canvas.addEventListener("pointerup", (event) => { if (!hasMoved) select(nodeAt(...place(event))); from = null; });
  canvas.addEventListener("pointerleave", () => { if (state.hovered) { state.hovered = null; show(); } });
  canvas.addEventListener("wheel", (event) => { event.preventDefault(); drawing.zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15, ...place(event)); show(); }, { passive: false });
}

// Start --------------------------------------------------------------------------------------------------------------

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  drawing.readColours();
  for (const mark of document.querySelectorAll("[data-colour]")) if (mark.dataset.colour) mark.style.backgroundColor = drawing.colour(mark.dataset.colour);
  show();
}

function springs() {
  const isHub = (node) => node.type !== "memory" && node.members > 40;
  return edges.filter((edge) => !isHub(edge.a) && !isHub(edge.b)).map((edge) => {
    const isFaint = edge.relation === "has_tag" || edge.relation === "in_cluster";
    const isWithin = edge.a.group === edge.b.group; // what leads to another island draws its ends to its shore, no further
    return { a: edge.a, b: edge.b, strength: (isFaint ? 0.06 : 0.35) * (isWithin ? 1 : 0.03), length: isFaint ? 1.4 : 1.2 };
  });
}

function arrange() {
  const gap = nodes.length < FEW ? 110 : nodes.length < 500 ? 72 : 46;
  nameGroups(nodes);
  placeAtFirst(nodes, gap);
  const tied = springs(), ticks = nodes.length > 5000 ? 60 : nodes.length > 1000 ? 140 : 260;
  let n = 0;
  const slice = () => {
    const end = performance.now() + 250;
    for (; n < ticks && performance.now() < end; n++) tick(nodes, tied, (1 - n / ticks) ** 1.5, gap);
    state.groups = headings(nodes);
    drawing.fit(state.nodes); drawing.draw(state);
    if (n < ticks) { setTimeout(slice, 0); return; }
    separate(nodes);
    state.groups = headings(nodes);
    drawing.fit(state.nodes); drawing.draw(state);
    $("busy").hidden = true;
    document.documentElement.dataset.ready = "true";
  };
  slice();
}

function start() {
  addFilters();
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  drawing.resize();
  applyFilters();
  addPointer($("graph"));
  $("graph").addEventListener("keydown", onGraphKey);
  $("nodes").addEventListener("keydown", onListKey);
  document.addEventListener("keydown", onKey);
  $("search").addEventListener("input", search);
  $("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && state.listed.length) { select(state.listed[0], true); $("nodes").focus(); }
    if (event.key === "ArrowDown") { event.preventDefault(); $("nodes").focus(); if (state.listed.length) select(state.listed[0], true); }
  });
  $("in").addEventListener("click", () => { drawing.zoom(1.3); show(); });
  $("out").addEventListener("click", () => { drawing.zoom(1 / 1.3); show(); });
  $("fit").addEventListener("click", () => { drawing.fit(state.nodes); show(); });
  $("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  $("help").addEventListener("click", toggleKeys);
  new ResizeObserver(() => { drawing.resize(); drawing.draw(state); }).observe($("stage"));
  arrange();
}

start();
