// Light or dark: as the system has it, until the user says otherwise.

import { byId } from "./dom.js";
import { changed, storage } from "./studio.js";

const ORDER = ["system", "light", "dark"];
const dark = matchMedia("(prefers-color-scheme: dark)");

function apply() {
  const wish = storage.get("theme") ?? "system";
  const theme = wish === "system" ? (dark.matches ? "dark" : "light") : wish;
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = { system: "Theme: auto", light: "Theme: light", dark: "Theme: dark" }[wish];
  changed("theme");
}

export function startTheme() {
  byId("theme").onclick = () => {
    const wish = storage.get("theme") ?? "system";
    storage.set("theme", ORDER[(ORDER.indexOf(wish) + 1) % ORDER.length]);
    apply();
  };
  dark.addEventListener("change", apply);
  apply();
}

/** The value of a colour of the style sheet. */
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
