// The keyboard, and the page of help that lists it.

import { byId, h } from "./dom.js";
import { show } from "./panels.js";
import { settings } from "./settings.js";
import { copy, send, state } from "./studio.js";
import { STANDARD } from "./triad.js";

const KEYS = [
  ["Tab", "from control to control; Enter or Space uses it"],
  ["Alt + 1 … 6", "Build, Inspect, Equations, Simulate, Motion, Export"],
  ["Ctrl + Z, Ctrl + Shift + Z", "undo, redo"],
  ["Ctrl + S, Ctrl + O", "save, open"],
  ["arrows, + and -, F", "in the 3D view: turn, zoom, fit; a double click goes near"],
  ["0, 1, 2, 3", "in the 3D view: from the usual side, the front, the right, above"],
  ["arrows, Enter, Delete", "in the grid: go, add or turn, remove"],
  ["Delete, Shift + Delete", "undock the selected module, or its whole branch"],
  ["Space, Escape", "in the 3D view, with Simulate open: run or pause, stop"],
  ["Escape", "give up copying a branch"],
  ["?", "this page"],
];
const PANELS = ["build", "inspect", "equations", "simulate", "motion", "export"];
const TURN = 0.12;
// where keys write text or choose an entry
const TYPING = "input:not([type=range]):not([type=radio]):not([type=checkbox]), textarea, select";

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
      "Drag to turn the view, with the right button to shift it, wheel to zoom, double click a module to go near it.",
    ),
    h(
      "div",
      { class: "keys" },
      KEYS.flatMap(([keys, what]) => [h("span", {}, h("kbd", {}, keys)), h("span", {}, what)]),
    ),
  );
  byId("help-open").onclick = () => dialog.showModal();
  document.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]")) return; // a dialog has its own keys
    const typing = event.target.matches?.(TYPING);
    if (anywhere(event) || (!typing && onEverythingElse(event, view, dialog))) event.preventDefault();
  });
}

/** What the keys do where no text is written. */
function onEverythingElse(event, view, dialog) {
  return undoOrRedo(event) || onStage(event, view) || onPage(event, dialog);
}

function anywhere({ key, altKey, ctrlKey, metaKey }) {
  const command = ctrlKey || metaKey;
  if (altKey && PANELS[Number(key) - 1]) return (show(PANELS[Number(key) - 1], true), true);
  if (command && key.toLowerCase() === "s") return (byId("save").click(), true);
  if (command && key.toLowerCase() === "o") return (byId("gallery-open").click(), true);
  if (key === "Escape" && state.copying) return (copy(null), true);
  return false;
}

/** Undo and redo of the robot; in a field they are the browser's own, of the text. */
function undoOrRedo({ key, ctrlKey, metaKey, shiftKey }) {
  const letter = key.toLowerCase();
  if (!(ctrlKey || metaKey) || !["z", "y"].includes(letter)) return false;
  return (send(shiftKey || letter === "y" ? "redo" : "undo"), true);
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

function onStage({ key, target, ctrlKey, metaKey, altKey }, view) {
  if (target !== view.canvas || ctrlKey || metaKey || altKey) return false;
  const acts = {
    ArrowLeft: () => view.orbit(-TURN, 0),
    ArrowRight: () => view.orbit(TURN, 0),
    ArrowUp: () => view.orbit(0, TURN),
    ArrowDown: () => view.orbit(0, -TURN),
    "+": () => view.zoom(0.88),
    "=": () => view.zoom(0.88),
    "-": () => view.zoom(1.14),
    0: () => view.lookFrom(STANDARD),
    1: () => view.lookFrom([0, -1, 0]),
    2: () => view.lookFrom([1, 0, 0]),
    3: () => view.lookFrom([0, 0, 1]),
    f: () => view.fit(),
    F: () => view.fit(),
    ...(state.panel === "simulate" && { " ": runOrPause }),
    ...(state.runs.state !== "idle" && { Escape: () => send("stop_run") }),
  };
  if (!acts[key]) return false;
  acts[key]();
  return true;
}
