// The colours that were chosen, before anything is painted: light, dark, or as the system.
"use strict";
(() => {
  const stored = () => { try { return localStorage.getItem("memcli-theme"); } catch { return null; } };
  const name = stored();
  if (name === "light" || name === "dark") document.documentElement.dataset.theme = name;
})();
