// The keyboard, and the page of help that lists it.

import { byId, h } from "./dom.js";
import { show } from "./panels.js";
import { settings } from "./settings.js";
import { send, state } from "./studio.js";

const KEYS = [
  ["Tab", "from control to control; Enter or Space uses it"],
  ["Alt + 1 … 5", "Build, Inspect, Equations, Simulate, Export"],
  ["Ctrl + Z, Ctrl + Shift + Z", "undo, redo"],
  ["Ctrl + S, Ctrl + O", "save, open"],
  ["arrows, + and -, F", "in the 3D view: turn, zoom, fit"],
  ["arrows, Enter, Delete", "in the grid: go, add or turn, remove"],
  ["Delete, Shift + Delete", "undock the selected module, or its whole branch"],
  ["Space, Escape", "in the 3D view: run or pause, stop"],
  ["?", "this page"],
];
const PANELS = ["build", "inspect", "equations", "simulate", "export"];
const TURN = 0.12;

export function startKeys(view) {
  const dialog = byId("help");
  dialog.append(
    h(
      "div",
      { class: "row spread" },
      h("h2", { id: "help-title" }, "Keys and gestures"),
      h("button", { class: "button", onclick: () => dialog.close() }, "Close"),
    ),
    h(
      "p",
      { class: "soft", style: { margin: "8px 0 14px" } },
      "Click a lit port to dock the chosen module, a module to select it. ",
      "Drag to turn the view, with the right button to shift it, wheel to zoom.",
    ),
    h(
      "div",
      { class: "keys" },
      KEYS.flatMap(([keys, what]) => [h("span", {}, h("kbd", {}, keys)), h("span", {}, what)]),
    ),
  );
  byId("help-open").onclick = () => dialog.showModal();
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches?.(
      "input:not([type=range]):not([type=radio]):not([type=checkbox]), textarea, select",
    );
    if (anywhere(event) || (!typing && (onStage(event, view) || onPage(event, dialog)))) event.preventDefault();
  });
}

function anywhere({ key, altKey, ctrlKey, metaKey, shiftKey, target }) {
  const command = ctrlKey || metaKey;
  if (altKey && PANELS[Number(key) - 1]) return (show(PANELS[Number(key) - 1], true), true);
  if (command && key.toLowerCase() === "s") return (byId("save").click(), true);
  if (command && key.toLowerCase() === "o") return (byId("gallery-open").click(), true);
  if (command && ["z", "y"].includes(key.toLowerCase()) && !target.matches?.("textarea, input[type=text]")) {
    return (send(shiftKey || key.toLowerCase() === "y" ? "redo" : "undo"), true);
  }
  return false;
}

function onPage({ key, shiftKey, target }, dialog) {
  if (key === "?") return (dialog.showModal(), true);
  if (key === "Delete" && state.selected && !target.closest?.(".cells")) {
    return (send("undock", { module: state.selected, branch: shiftKey }), true);
  }
  return false;
}

function runOrPause() {
  if (state.runs.state === "idle") send("start_run", { settings: settings() });
  else send(state.runs.state === "running" ? "pause_run" : "resume_run");
}

function onStage({ key, target }, view) {
  if (target !== view.canvas) return false;
  const acts = {
    ArrowLeft: () => view.orbit(-TURN, 0),
    ArrowRight: () => view.orbit(TURN, 0),
    ArrowUp: () => view.orbit(0, TURN),
    ArrowDown: () => view.orbit(0, -TURN),
    "+": () => view.zoom(0.88),
    "=": () => view.zoom(0.88),
    "-": () => view.zoom(1.14),
    f: () => view.fit(),
    F: () => view.fit(),
    " ": runOrPause,
    Escape: () => send("stop_run"),
  };
  if (!acts[key]) return false;
  acts[key]();
  return true;
}
