// Search as you type: one request at a time, the one before is aborted; the address follows.

import { fetchPart } from "./inspector.js";

const PAUSE = 180;
const form = document.getElementById("search");
const results = document.getElementById("results");
const live = document.getElementById("live");
let timer = 0;
let request = null;
let last = "";

function address() {
  const given = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (String(value).trim()) given.append(name, value);
  const text = given.toString();
  return text ? `/?${text}` : "/";
}

async function ask() {
  const wanted = address();
  if (wanted === last) return;
  last = wanted;
  request?.abort();
  const own = request = new AbortController();
  results.setAttribute("aria-busy", "true");
  try {
    const part = await fetchPart(wanted, own.signal);
    results.replaceChildren(...part.childNodes);
    history.replaceState(null, "", wanted);
    live.textContent = results.querySelector("[data-told]")?.textContent || "";
  } catch (error) {
    if (error.name === "AbortError") return;
    last = "";
    live.textContent = "The search failed. Press Enter to try again.";
  }
  if (request === own) results.removeAttribute("aria-busy");
}

function soon() {
  clearTimeout(timer);
  timer = setTimeout(ask, PAUSE);
}

last = address();
form.addEventListener("input", soon);
form.addEventListener("change", soon);
form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(timer); last = ""; ask(); });
document.getElementById("q").addEventListener("keydown", (event) => {
  if (event.key !== "ArrowDown") return;
  event.preventDefault();
  document.querySelector("[data-item] a")?.focus();
});
