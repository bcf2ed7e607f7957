// The graph: its data, as a block that the scripts of `memcli graph` read, and then these scripts one after the other.

const main = document.getElementById("main");
const busy = document.getElementById("busy");

function addScript(address) {
  return new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = address;
    script.addEventListener("load", done);
    script.addEventListener("error", failed);
    document.body.append(script);
  });
}

function followTheme() {
  const wanted = document.documentElement.dataset.theme;
  window.setTheme(wanted || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
}

async function start() {
  const chosen = document.documentElement.dataset.theme;
  const answer = await fetch(main.dataset.graph, { credentials: "same-origin" });
  if (!answer.ok) throw new Error(`${answer.status}`);
  const data = document.createElement("script");
  data.type = "application/json";
  data.id = "data";
  data.textContent = await answer.text();
  document.body.append(data);
  if (!JSON.parse(data.textContent).nodes.length) { busy.textContent = "No memories to show."; return; }
  for (const address of main.dataset.scripts.split(" ")) await addScript(address);
  if (chosen) { document.documentElement.dataset.theme = chosen; followTheme(); }
  document.addEventListener("theme-chosen", followTheme);
}

start().catch(() => { busy.textContent = "The graph could not be loaded."; });
