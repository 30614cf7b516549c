// The page: connects, starts the panels, and hands the server's news to them.

import { startBuild } from "./build.js";
import { byId } from "./dom.js";
import { saveFile } from "./download.js";
import { startGallery } from "./gallery.js";
import { startGuide } from "./guide.js";
import { startKeys } from "./keys.js";
import { refuse, startNotices, tell } from "./notices.js";
import { startPanels } from "./panels.js";
import { startPresence } from "./presence.js";
import { startStage } from "./stage.js";
import { changed, connection, copy, dockAt, moduleOf, ofModules, on, send, state } from "./studio.js";
import { startTheme } from "./theme.js";
import { startTransport } from "./transport.js";

const QUIET = ["finished", "stopped", "the robot changed"]; // ends of a run that need no word

startNotices();
const view = startStage();
startPanels();
startBuild();
startGallery();
startKeys(view);
startTheme();
startPresence();
startGuide();
startTransport(byId("timeline"));

connection.on("welcome", (event) => {
  const { types, offers, session, share_key: shareKey } = event;
  Object.assign(state, { types, offers, session, shareKey });
  changed("types");
  changed("choice");
  if (event.note) tell(event.note);
  if (event.problems.length) refuse(event.problems.join("\n"), "Some of your files cannot be read");
  openShared();
});
connection.on("robot", ({ design }) => {
  const notes = design.number === state.design?.number ? [] : design.notes;
  state.design = design;
  if (!moduleOf(state.selected)) state.selected = null;
  if (!moduleOf(state.copying)) state.copying = null;
  changed("design");
  changed("selection");
  if (notes.length) tell(notes.join("\n"));
});
connection.on("done", ({ command }) => {
  if (command === "duplicate") copy(null);
});
connection.on("pose", (pose) => {
  state.pose = pose;
  changed("pose");
});
connection.on("runs", (runs) => {
  state.runs = runs;
  if (runs.note && !QUIET.includes(runs.note)) refuse(runs.note, `Run ${runs.runs.at(-1)?.number ?? ""} ended early`);
  changed("runs");
});
on("design", () => {
  const { name, undo, redo, most_steps: most } = state.design;
  if (document.activeElement !== byId("robot-name")) byId("robot-name").value = name;
  document.title = `${name} · modurob studio`;
  byId("undo").disabled = !undo;
  byId("redo").disabled = !redo;
  const kept = undo + 1 >= most ? `; older steps than the last ${most} are forgotten` : "";
  byId("undo").title = `Undo (Ctrl+Z): ${undo} ${undo === 1 ? "step" : "steps"} back${kept}`;
  byId("redo").title = `Redo (Ctrl+Shift+Z): ${redo} ${redo === 1 ? "step" : "steps"} ahead`;
});
on("refused", () => {
  byId("robot-name").value = state.design?.name ?? "";
});
byId("undo").onclick = () => send("undo");
byId("redo").onclick = () => send("redo");
byId("save").onclick = () => saveFile(ofModules() ? "robot.yaml" : "robot.urdf");
byId("robot-name").onchange = ({ target }) => {
  if (target.value.trim()) return send("rename", { name: target.value.trim() });
  target.value = state.design.name;
  refuse(`it is empty; the robot stays ${state.design.name}`, "Name of the robot");
};

/** A robot that came in the address is opened once. */
function openShared() {
  if (!location.hash.startsWith("#robot=")) return;
  const text = location.hash;
  history.replaceState(null, "", location.pathname + location.search);
  send("open", { text });
}

connection.open();

// for tests: what is on the page, and where to click
window.studio = { state, view, send, connection, dockAt, drop: () => connection.drop(), load: (name) => import(`./${name}.js`) };
