// The tabs: one panel at a time; heavy panels are loaded when they are first opened.

import { byId } from "./dom.js";
import { changed, on, state, storage } from "./studio.js";

const NAMES = ["build", "inspect", "equations", "simulate", "motion", "export"];
const LATER = {
  inspect: () => import("./inspect.js"),
  equations: () => import("./equations.js"),
  simulate: () => import("./simulate.js"),
  motion: () => import("./motion.js"),
  export: () => import("./export.js"),
};
const loaded = new Set();

export function startPanels() {
  NAMES.forEach((name, i) => {
    const tab = byId(`tab-${name}`);
    tab.onclick = () => show(name);
    tab.onkeydown = ({ key }) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
      if (step) show(NAMES[(i + step + NAMES.length) % NAMES.length], true);
    };
  });
  show(NAMES.includes(storage.get("panel")) ? storage.get("panel") : "build");
}

export async function show(name, focus = false) {
  state.panel = name;
  storage.set("panel", name);
  for (const other of NAMES) {
    const on = other === name;
    byId(`panel-${other}`).hidden = !on;
    byId(`tab-${other}`).setAttribute("aria-selected", String(on));
    byId(`tab-${other}`).tabIndex = on ? 0 : -1;
  }
  document.querySelector("main").dataset.panel = name;
  if (focus) byId(`tab-${name}`).focus();
  if (LATER[name] && !loaded.has(name)) {
    loaded.add(name);
    const panel = await LATER[name]();
    // after a reload it may be there before the robot
    if (!state.design) await new Promise((there) => on("design", there));
    panel.start(byId(`panel-${name}`));
  }
  changed("panel");
}
