// What all pages do: colours, keys, lists, and parts that are loaded after the page. Texts come from the server as HTML in
// which they are escaped; here they are only ever set as text.

const THEMES = { system: ["◐", "Colours: as the system"], light: ["☀", "Colours: light"], dark: ["☾", "Colours: dark"] };
const root = document.documentElement;

function chosenTheme() {
  try { return localStorage.getItem("memcli-theme") || "system"; } catch { return "system"; }
}

function setTheme(name) {
  try { if (name === "system") localStorage.removeItem("memcli-theme"); else localStorage.setItem("memcli-theme", name); } catch { /* not remembered */ }
  if (name === "system") delete root.dataset.theme; else root.dataset.theme = name;
  showTheme(name);
  document.dispatchEvent(new CustomEvent("theme-chosen"));
}

function showTheme(name) {
  const button = document.getElementById("to-theme");
  if (!button) return;
  const [sign, label] = THEMES[name] || THEMES.system;
  button.hidden = false;
  button.textContent = sign;
  button.setAttribute("aria-label", label);
  button.title = label;
}

function nextTheme() {
  const names = Object.keys(THEMES);
  setTheme(names[(names.indexOf(chosenTheme()) + 1) % names.length]);
}

// Lists ----------------------------------------------------------------------------------------------------------------

const items = () => [...document.querySelectorAll("[data-item]")];

function move(step) {
  const all = items();
  if (!all.length) return;
  const at = all.findIndex((item) => item.contains(document.activeElement));
  const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + step))];
  const target = next.querySelector("a[href]") || next;
  target.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

function onKey(event) {
  const active = document.activeElement;
  const isTyping = active && (active.isContentEditable || ["INPUT", "SELECT", "TEXTAREA"].includes(active.tagName)) && active.type !== "checkbox";
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && isTyping) { event.preventDefault(); active.blur(); document.getElementById("main")?.focus({ preventScroll: true }); return; }
  if (isTyping || document.getElementById("shortcuts")?.open) return;
  if (event.key === "/") focusSearch(event);
  else if (event.key === "j") move(1);
  else if (event.key === "k") move(-1);
  else if (event.key === "t") nextTheme();
  else if (event.key === "?") showKeys();
  else return;
  event.preventDefault();
}

function focusSearch(event) {
  const field = document.getElementById("q") || document.querySelector("input[type=search]");
  if (field) { event.preventDefault(); field.focus(); field.select(); } else location.assign("/");
}

function showKeys() {
  const dialog = document.getElementById("shortcuts");
  if (dialog && !dialog.open) dialog.showModal();
}

// Parts ----------------------------------------------------------------------------------------------------------------

export async function fetchPart(address, signal) {
  const url = new URL(address, location.href);
  url.searchParams.set("part", "1");
  const answer = await fetch(url, { signal, headers: { Accept: "text/html" }, credentials: "same-origin" });
  if (!answer.ok) throw new Error(`${answer.status}`);
  return new DOMParser().parseFromString(await answer.text(), "text/html").body;
}

async function load(place) {
  place.setAttribute("aria-busy", "true");
  try {
    place.replaceChildren(...(await fetchPart(place.dataset.load)).childNodes);
  } catch {
    const told = document.createElement("span");
    told.className = "soft";
    told.textContent = " (could not be loaded here)";
    place.append(told);
  }
  place.removeAttribute("aria-busy");
}

async function open(branch) {
  if (!branch.open || branch.querySelector(":scope > ul") || branch.dataset.loading) return;
  branch.dataset.loading = "true";
  try {
    branch.append(...(await fetchPart(branch.dataset.tree)).childNodes);
  } catch {
    branch.open = false;
  }
  delete branch.dataset.loading;
}

function start() {
  root.dataset.script = "on";
  showTheme(chosenTheme());
  document.getElementById("to-theme")?.addEventListener("click", nextTheme);
  const help = document.getElementById("to-help");
  if (help) { help.hidden = false; help.addEventListener("click", showKeys); }
  document.addEventListener("keydown", onKey);
  document.addEventListener("toggle", (event) => { if (event.target.dataset?.tree) open(event.target); }, true);
  for (const select of document.querySelectorAll("select[data-submit]")) select.addEventListener("change", () => select.form.requestSubmit());
  for (const place of document.querySelectorAll("[data-load]")) load(place);
  const fold = document.querySelector(".side > .fold");
  if (fold && matchMedia("(max-width: 760px)").matches) fold.open = false;
  if (matchMedia("(min-width: 761px)").matches) document.querySelector("[data-focus]")?.focus({ preventScroll: true });
}

start();
