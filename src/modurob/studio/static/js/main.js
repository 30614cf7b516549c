// The page: connects, starts the panels, and hands the server's news to them.

import { startBuild } from "./build.js";
import { byId } from "./dom.js";
import { startGallery } from "./gallery.js";
import { startKeys } from "./keys.js";
import { startPanels } from "./panels.js";
import { startRefusals, toast } from "./refusals.js";
import { unpacked } from "./share.js";
import { startStage } from "./stage.js";
import { changed, connection, dockAt, fileAddress, on, send, state } from "./studio.js";
import { startTheme } from "./theme.js";

const view = startStage();
startPanels();
startBuild();
startGallery();
startRefusals(view);
startKeys(view);
startTheme();

connection.on("welcome", (event) => {
  Object.assign(state, { types: event.types, session: event.session });
  byId("connection").textContent = "connected";
  byId("connection").classList.remove("lost");
  changed("types");
  changed("choice");
  openShared();
});
connection.on("lost", ({ reason }) => {
  byId("connection").textContent = reason || "connection lost";
  byId("connection").classList.add("lost");
});
connection.on("robot", ({ design }) => {
  state.design = design;
  if (!design.modules.some((module) => module.name === state.selected)) state.selected = null;
  changed("design");
  changed("selection");
});
connection.on("pose", (pose) => {
  state.pose = pose;
  changed("pose");
});
connection.on("runs", (runs) => {
  state.runs = runs;
  if (runs.note && !["finished", "stopped", "the robot changed"].includes(runs.note))
    toast(`Run ${runs.runs.at(-1)?.number ?? ""} ${runs.note}`);
  changed("runs");
});
on("design", () => {
  const { name, undo, redo } = state.design;
  if (document.activeElement !== byId("robot-name")) byId("robot-name").value = name;
  document.title = `${name} · modurob studio`;
  byId("undo").disabled = !undo;
  byId("redo").disabled = !redo;
  byId("save").href = fileAddress("robot.yaml");
  byId("save").download = `${name}.yaml`;
});
byId("undo").onclick = () => send("undo");
byId("redo").onclick = () => send("redo");
byId("robot-name").onchange = (e) => e.target.value && send("rename", { name: e.target.value });

/** A robot that came in the address is opened once. */
async function openShared() {
  if (!location.hash.startsWith("#robot=")) return;
  const code = location.hash.slice(7);
  history.replaceState(null, "", location.pathname + location.search);
  try {
    send("open", { text: await unpacked(code) });
  } catch {
    toast("The robot in the address cannot be read: the link may have been cut off.");
  }
}

connection.open();

// for tests: what is on the page, and where to click
window.studio = { state, view, send, dockAt, drop: () => connection.drop() };
