// The page: the graph of the data block, its filters, the list and the details. Texts are only ever set as text.

const $ = (id) => document.getElementById(id);
const RELATIONS = ["supersedes", "contradicts", "derived_from", "depends_on", "relates_to", "has_tag", "in_cluster"];
const MANY = 400; // from so many memories on, tags are hidden at first
const FEW = 40; // up to so many need no islands
const words = (text) => text.replaceAll("_", " ");

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "onclick") made.addEventListener("click", value); else if (key === "text") made.textContent = value; else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function readGraph() {
  const data = JSON.parse($("data").textContent);
  const roots = new Set(data.roots || []);
  const nodes = data.nodes.filter((node) => node.type === "memory" || node.members > 1).map((node, index) => ({
    ...node, index, edges: [], degree: 0, root: roots.has(node.id), isOn: true,
    short: node.type === "tag" ? `#${node.label}` : node.label.slice(node.label.lastIndexOf("/") + 1),
    hay: [node.label, node.memory || "", node.summary || "", ...(node.tags || [])].join("\n").toLowerCase(),
  }));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const edges = data.edges.filter((edge) => byId.has(edge.start) && byId.has(edge.end))
    .map((edge) => ({ ...edge, a: byId.get(edge.start), b: byId.get(edge.end), shown: true }));
  for (const edge of edges) for (const node of new Set([edge.a, edge.b])) { node.edges.push(edge); node.degree += 1; }
  const kinds = tally(nodes.filter((node) => node.type === "memory").map((node) => node.kind));
  const colours = new Map(kinds.map(([kind], n) => [kind, `c${Math.min(n, 11)}`]));
  for (const node of nodes) {
    node.colour = colours.get(node.kind);
    const links = node.edges.filter((edge) => edge.relation !== "has_tag").length;
    node.weight = node.type === "memory" ? 2 * links + (node.pinned ? 3 : 0) : Math.min(6, Math.sqrt(node.members));
    node.radius = node.type === "memory" ? 5 + Math.min(7, Math.sqrt(links) * 1.8) : 4 + Math.min(5, Math.sqrt(node.members));
  }
  return { nodes, edges, kinds, colours };
}

function tally(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) || 0) + 1);
  return [...counts.entries()].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

// The heading that a node belongs to: the first part of its path, or the second where one heading has most of all.
function nameGroups(nodes) {
  const memories = nodes.filter((node) => node.type === "memory");
  const isOne = new Set(memories.map((node) => node.space)).size < 2;
  const part = (node, n) => { const parts = (isOne ? node.path : node.label).split("/"); return parts.length > n ? parts.slice(0, n).join("/") : parts.slice(0, -1).join("/"); };
  const first = new Map(tally(memories.map((node) => part(node, 1))));
  for (const node of memories) { const name = part(node, 1); node.group = first.get(name) > memories.length / 2 ? part(node, 2) : name; }
  const sizes = new Map(tally(memories.map((node) => node.group)));
  for (const node of memories) if (memories.length < FEW || sizes.get(node.group) < 3) node.group = "";
  for (const node of nodes) if (node.type !== "memory") {
    const found = tally(node.edges.map((edge) => (edge.a === node ? edge.b : edge.a).group || ""));
    node.group = found.length ? found[0][0] : "";
  }
}

// The headings, each above its island; the few nodes that lie outside do not move it.
function headings(nodes) {
  const found = new Map();
  for (const node of nodes) if (node.group && node.type === "memory" && node.isOn) {
    if (!found.has(node.group)) found.set(node.group, []);
    found.get(node.group).push(node);
  }
  return [...found.entries()].map(([name, members]) => {
    const tops = members.map((node) => node.y - node.radius).sort((a, b) => a - b);
    const x = members.reduce((sum, node) => sum + node.x, 0) / members.length;
    return { name, x, y: tops[Math.floor(members.length * 0.06)], size: members.length };
  }).sort((a, b) => b.size - a.size || (a.name < b.name ? -1 : 1));
}

const { nodes, edges, kinds, colours } = readGraph();
const memories = nodes.filter((node) => node.type === "memory");
const drawing = new Drawing($("graph"));
const state = { nodes, edges, groups: [], selected: null, hovered: null, found: null, trail: [] };
const filters = { types: new Map(), kinds: new Map(), relations: new Map(), spaces: new Map(), tag: "" };
let waiting = false;

function show() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; drawing.draw(state); });
}

// Filters ------------------------------------------------------------------------------------------------------------

function addFilter(kind, name, count, swatch, isOn = true) {
  filters[kind].set(name, isOn);
  const box = element("input", { type: "checkbox" });
  box.checked = isOn;
  box.addEventListener("change", () => { filters[kind].set(name, box.checked); applyFilters(); });
  const mark = element("span", { class: `swatch ${kind === "relations" ? "line" : ""}`, "data-colour": swatch || "" });
  $(kind).append(element("label", {}, box, ...(swatch ? [mark] : []), element("span", { text: words(name) || "(none)" }), element("small", { text: String(count) })));
}

function addFilters() {
  const tags = nodes.filter((node) => node.type === "tag").length, groups = nodes.filter((node) => node.type === "cluster").length;
  if (tags) addFilter("types", "tags", tags, "tag", memories.length < MANY);
  if (groups) addFilter("types", "clusters", groups, "cluster", memories.length < MANY);
  addFilter("types", "unlinked", memories.filter((node) => !node.weight).length, "");
  for (const [kind, count] of kinds) addFilter("kinds", kind, count, colours.get(kind));
  const counted = new Map(tally(edges.map((edge) => edge.relation)));
  for (const relation of RELATIONS) if (counted.has(relation)) addFilter("relations", relation, counted.get(relation), relation);
  const spaces = tally(memories.map((node) => node.space));
  for (const [space, count] of spaces) addFilter("spaces", space, count, "");
  $("spaces").hidden = spaces.length < 2;
  const named = tally(memories.flatMap((node) => node.tags));
  for (const [tag, count] of named) $("tag").append(element("option", { value: tag, text: `${tag} (${count})` }));
  $("tag").addEventListener("change", () => { filters.tag = $("tag").value; applyFilters(); });
  $("reset").addEventListener("click", reset);
}

function reset() {
  for (const box of $("filters").querySelectorAll("input")) if (!box.checked) box.click();
  $("tag").value = filters.tag = ""; $("search").value = "";
  select(null); applyFilters(); drawing.fit(state.nodes); show();
}

function isWanted(node) {
  if (node.type === "tag") return filters.types.get("tags") && (!filters.tag || node.label === filters.tag);
  if (node.type === "cluster") return filters.types.get("clusters");
  if (!filters.kinds.get(node.kind) || !filters.spaces.get(node.space)) return false;
  if (!filters.types.get("unlinked") && !node.weight) return false;
  return !filters.tag || node.tags.includes(filters.tag);
}

function applyFilters() {
  for (const node of nodes) node.isOn = Boolean(isWanted(node));
  for (const edge of edges) edge.shown = edge.a.isOn && edge.b.isOn && filters.relations.get(edge.relation);
  state.nodes = nodes.filter((node) => node.isOn);
  state.edges = edges.filter((edge) => edge.shown);
  state.groups = headings(nodes);
  search();
}

function search() {
  const asked = $("search").value.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const found = asked.length ? state.nodes.filter((node) => asked.every((word) => node.hay.includes(word))) : null;
  state.found = found && new Set(found);
  list(found || state.nodes);
  const shown = state.nodes.filter((node) => node.type === "memory").length;
  $("count").textContent = found ? `${found.length} found of ${state.nodes.length}` : `${shown} memories, ${state.edges.length} ties`;
  show();
}

// The list: what a screen reader has in the place of the picture ------------------------------------------------------

function list(listed) {
  state.listed = listed;
  $("nodes").replaceChildren(...listed.map((node) => {
    const told = node.type === "tag" ? `#${node.label} (tag, ${node.members})` : node.type === "cluster" ? `${node.label} (cluster)` : node.label;
    const item = element("li", { role: "option", id: `n${node.index}`, "aria-selected": String(node === state.selected), title: node.summary || "", text: told });
    item.addEventListener("click", () => select(node, true));
    return item;
  }));
}

function markSelected() {
  for (const item of $("nodes").querySelectorAll('[aria-selected="true"]')) item.setAttribute("aria-selected", "false");
  const item = state.selected && $(`n${state.selected.index}`);
  if (!item) { $("nodes").removeAttribute("aria-activedescendant"); return; }
  item.setAttribute("aria-selected", "true");
  $("nodes").setAttribute("aria-activedescendant", item.id);
  item.scrollIntoView({ block: "nearest" });
}

// Details ------------------------------------------------------------------------------------------------------------

function select(node, moves = false) {
  if (state.selected && node && state.selected !== node) state.trail.push(state.selected);
  if (!node) state.trail = [];
  state.selected = node; state.hovered = null;
  markSelected();
  details(node);
  drawing.resize();
  if (node && moves) reveal(node);
  show();
}

function reveal(node) {
  const [x, y] = drawing.toScreen(node);
  if (drawing.view.k < 0.7) drawing.view.k = 0.7;
  else if (x > 60 && y > 40 && x < drawing.width - 60 && y < drawing.height - 40) return;
  drawing.view.x = node.x; drawing.view.y = node.y;
}

function details(node) {
  const panel = $("details");
  panel.hidden = !node;
  if (!node) { panel.replaceChildren(); return; }
  const isMemory = node.type === "memory";
  const states = ["pinned", "superseded", "forgotten"].filter((name) => node[name]);
  if (node.untrusted) states.push(`untrusted (${node.untrusted.join(", ")})`);
  const facts = isMemory ? [["kind", node.kind], ["space", node.space], ["id", node.memory], ["updated", node.updated_at]] : [["members", String(node.members)]];
  panel.replaceChildren(
    element("button", { type: "button", class: "close", "aria-label": "Close the details", text: "×", onclick: () => { select(null); $("graph").focus(); } }),
    element("h2", { text: node.type === "tag" ? `#${node.label}` : node.label }),
    ...(states.length ? [element("p", { class: "state", text: states.join(", ") })] : []),
    ...(node.summary ? [element("p", { text: node.summary })] : []),
    element("dl", {}, ...facts.flatMap(([name, value]) => [element("dt", { text: name }), element("dd", { text: value })])),
    ...(isMemory && node.tags.length ? [element("h3", { text: "Tags" }), element("div", { class: "chips" }, ...node.tags.map(chip))] : []),
    ...ties(node),
    ...(node.has_more ? [element("p", { text: "It has more neighbours than this page: `memcli graph` with a larger --depth." })] : []),
  );
}

function chip(tag) {
  return element("button", { type: "button", text: `#${tag}`, onclick: () => { $("tag").value = filters.tag = filters.tag === tag ? "" : tag; applyFilters(); } });
}

function ties(node) {
  const rows = node.edges.filter((edge) => node.type !== "memory" || edge.relation !== "has_tag").map((edge) => {
    const isOut = edge.a === node, other = isOut ? edge.b : edge.a;
    const arrow = ["relates_to", "contradicts", "has_tag", "in_cluster"].includes(edge.relation) ? "–" : isOut ? "→" : "←";
    const told = node.type === "memory" ? `${words(edge.relation)} ${arrow} ` : "";
    return element("li", {}, element("button", { type: "button", onclick: () => select(other, true) }, element("small", { text: told }), other.label));
  });
  return rows.length ? [element("h3", { text: node.type === "memory" ? "Links" : "Memories" }), element("ul", {}, ...rows)] : [];
}
