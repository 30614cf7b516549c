// The first robot, step by step: what to do next, on top of the panel, until it walks or the guide is closed.

import { byId, h } from "./dom.js";
import { stands } from "./settings.js";
import { on, state, storage } from "./studio.js";

const modules = () => state.design?.modules.length ?? 0;
const more = (n) => `${n} more ${n === 1 ? "module" : "modules"}`;
// what to do, where that is on the page, and whether it is done
const STEPS = [
  [() => "Click a lit port of the cube: another one docks there.", "#canvas", () => modules() > 1],
  [() => `Dock ${more(5 - modules())}, wherever you like: a chain, or legs to the sides.`, "#canvas", () => modules() > 4],
  [() => "Open Simulate.", "#tab-simulate", () => state.panel === "simulate"],
  [() => "Set it on the ground.", "[aria-label='How the robot stands']", () => stands() === "ground"],
  [() => "Press Run.", "#run", () => state.runs.runs.length > 0],
  [() => "It moves. Let the studio look for a gait that goes farther.", "#find-gait", () => found],
];
const LAST = "Run it again: this is a robot that walks. Equations and Export show what you have made.";
let found = false;

export function startGuide() {
  if (storage.get("guide") === "done") return;
  const text = h("span", { class: "grow" });
  const close = h("button", { class: "link", onclick: () => end(box) }, "Skip");
  const box = h("aside", { id: "guide", class: "guide", "aria-label": "Your first robot", hidden: true }, text, close);
  byId("panel").prepend(box);
  let started = null; // the robot that is being built
  const show = () => {
    if (!state.design || box.dataset.over) return;
    started ??= modules() === 1 ? state.design.number : null;
    box.hidden = state.design.number !== started;
    if (box.hidden) return point(null);
    const next = STEPS.findIndex(([, , done]) => !done());
    const [words, where] = next < 0 ? [() => LAST, null] : STEPS[next];
    text.replaceChildren(h("b", {}, next < 0 ? "Done. " : `${next + 1} of ${STEPS.length}. `), words());
    close.textContent = next < 0 ? "Close" : "Skip";
    point(where);
    if (next < 0) storage.set("guide", "done");
  };
  for (const what of ["design", "panel", "settings", "runs"]) on(what, show);
  on("gait", () => {
    found = true;
    show();
  });
}

function end(box) {
  storage.set("guide", "done");
  box.dataset.over = "yes";
  box.remove();
  point(null);
}

/** Light up what the step is about. */
function point(css) {
  for (const element of document.querySelectorAll(".pointed")) element.classList.remove("pointed");
  if (css) document.querySelector(css)?.classList.add("pointed");
}
