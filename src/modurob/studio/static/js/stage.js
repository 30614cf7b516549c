// The 3D view on the page: its buttons, its captions, and the frames that come from the server.

import { drawnInSoftware } from "./detail.js";
import { byId, everyFrame, h, shown } from "./dom.js";
import { tell } from "./notices.js";
import { onGround, values } from "./settings.js";
import { changed, connection, copy, dockAt, fits, ofModules, on, select, send, state, typeOf } from "./studio.js";
import { STANDARD, makeTriad } from "./triad.js";
import { View } from "./view.js";

const NO_WEBGL = "This browser has no WebGL: robots are not drawn in 3D. Everything else works.";
const LAYERS = ["ports", "frames", "centres", "ellipsoids", "contacts", "tensions", "torques"];

export function startStage() {
  const detail = new URLSearchParams(location.search).get("detail");
  const low = ["low", "none"].includes(detail) || (!["plain", "high"].includes(detail) && drawnInSoftware());
  let view = null;
  view = new View(
    byId("canvas"),
    {
      port: dockAt,
      module: select,
      empty: () => {
        state.selected = null;
        changed("selection");
      },
      hover: (port) => {
        view.preview(port && !state.copying && fits(port) ? port : null, typeOf(state.kind), state.by, state.roll);
        byId("hint").textContent = port ? hint(port) + (view.ghost.clashes ? IN_THE_WAY : "") : "";
        tip(view, port);
      },
      over: (joints) => {
        if (!byId("labels").querySelector(".tip")) byId("hint").textContent = joints.map(axisHint).join("; ");
      },
      slow: () => {
        if (view.kept) return;
        byId("view-low").click();
        tell("Low detail, since this machine draws slowly; the button above the robot brings it back.");
      },
      resize: () => view && placeInsets(view),
    },
    low,
  );
  view.plain = detail === "plain";
  if (view.renderer.blind && detail !== "none") tell(NO_WEBGL);
  for (const layer of LAYERS) toggle(`view-${layer}`, (visible) => view.setVisible(layer, visible));
  on("panel", () => {
    // ports are for building
    const building = state.panel === "build";
    byId("view-ports").hidden = !building || !ofModules();
    view.setVisible("ports", building && byId("view-ports").getAttribute("aria-pressed") === "true");
    placeInsets(view);
  });
  toggle("view-parallel", (parallel) => view.setParallel(parallel));
  toggle("view-names", (visible) => {
    view.names = visible;
    placeLabels(view);
  });
  toggle("view-low", (low) => {
    view.setLow(low);
    view.kept ||= !low;
  });
  byId("view-low").setAttribute("aria-pressed", String(low));
  view.kept = ["plain", "high"].includes(detail);
  byId("view-fit").onclick = () => view.fit();
  toggle("view-more", (open) => byId("view-more").parentElement.classList.toggle("open", open), "aria-expanded");
  byId("view-home").onclick = () => view.lookFrom(STANDARD);
  const turnTriad = makeTriad(byId("triad"), view);
  view.afterDraw = everyFrame(() => {
    placeLabels(view);
    turnTriad();
  });

  on("design", () => {
    const before = view.design?.modules.length ?? 0;
    view.setRobot(state.design);
    // room for what was added; the view stays where it is otherwise
    view.framing.pending ||= Math.abs(state.design.modules.length - before) > 1;
    view.mayGrow = true;
    showFacts(view);
    placeInsets(view);
    showMode();
  });
  on("choice", () => {
    view.setFits((port) => Boolean(state.copying) || fits(port));
    showMode();
  });
  on("selection", () => view.setSelected(state.selected));
  on("lit", () => view.setLit(state.lit));
  on("settings", () => {
    if (!state.design) return;
    showFloor(view);
    showFacts(view);
    placeInsets(view);
  });
  on("theme", () => view.setTheme(document.documentElement.dataset.theme));

  connection.on("tensions", ({ tensions }) => view.setTensions(tensions));
  connection.on("contacts", ({ touching }) => view.setContacts(touching));
  connection.on("frame", ({ number, bodies, poses, sample }) => {
    if (bodies === state.design?.bodies.length) {
      const { nq, nv } = state.design;
      view.setTorques(sample.length ? sample.subarray(1 + nq + 2 * nv, 1 + nq + 3 * nv) : null);
      view.setPoses(poses);
      if (sample.length) view.trails.at(sample[0]);
      if (view.mayGrow) keepInView(view);
      state.sample = sample;
      showFloor(view);
      if (state.design.floating) showWay(view);
      if (sample.length) changed("sample");
    }
    requestAnimationFrame(() => send("acknowledge", { number }));
  });
  return view;
}

/** After an edit: step back if something would be out of sight. */
function keepInView(view) {
  view.mayGrow = false;
  if (view.cutOff()) view.fit();
}

/** The robot is fitted between the buttons above it and the captions below. */
function placeInsets(view) {
  const stage = byId("stage").getBoundingClientRect();
  const tools = document.querySelector(".view-tools").getBoundingClientRect();
  const facts = byId("facts").getBoundingClientRect();
  view.setInsets({ left: 10, right: 10, top: tools.bottom - stage.top + 6, bottom: stage.bottom - facts.top + 6 });
}

function toggle(id, act, attribute = "aria-pressed") {
  byId(id).onclick = () => {
    const on = byId(id).getAttribute(attribute) !== "true";
    byId(id).setAttribute(attribute, String(on));
    act(on);
  };
}

const IN_THE_WAY = "; it would overlap what is there";
const hint = (port) =>
  state.copying
    ? `${port.ref}: click to dock a copy of ${state.copying}`
    : fits(port)
      ? `${port.ref}: click to dock a ${state.kind} by ${state.by}`
      : `${port.ref}: a ${state.kind} does not fit here`;

/** What a joint that is pointed at is, and where it stands. */
function axisHint({ name, kind, q: [first], unit }) {
  const at = state.sample?.length ? state.sample[1 + first] : state.pose?.q[first];
  return `${name}: ${kind}${unit && at !== undefined ? `, ${shown(at, 3)} ${unit}` : ""}`;
}

/** What the next click does, if it is not to dock a module. */
function showMode() {
  const mode = byId("mode");
  mode.hidden = !state.copying;
  if (!state.copying) return;
  mode.replaceChildren(
    `Click a free port: a copy of ${state.copying}, with all that hangs on it, docks there. `,
    h("button", { class: "link", onclick: () => copy(null) }, "Cancel (Esc)"),
  );
}

function showFacts(view) {
  const { modules, degrees_of_freedom, idle, loops, mass, floating, cables } = state.design;
  const count = (n, word) => [h("b", {}, String(n)), ` ${word}${n === 1 ? "" : "s"}`];
  byId("view-ports").hidden = !ofModules() || state.panel !== "build";
  byId("facts").replaceChildren(
    ...count(modules.length, ofModules() ? "module" : "link"),
    " · ",
    h("b", {}, String(degrees_of_freedom)),
    ` degree${degrees_of_freedom === 1 ? "" : "s"} of freedom`,
    ...(idle.length ? [" · ", h("b", {}, String(idle.length)), " idle"] : []),
    ...(loops.length ? [" · ", ...count(loops.length, "loop")] : []),
    ...(mass ? [` · ${shown(mass, 3)} kg moving`] : []),
    floating ? h("span", { id: "floats" }, about(), h("output", { id: "height" })) : "",
  );
  byId("view-contacts").hidden = !onGround();
  byId("view-tensions").hidden = !cables.some(({ line }) => line !== undefined);
  if (floating) showWay(view);
}

/** The run that is shown, if the robot is not as it is posed. */
const shownRun = () => {
  const { runs, active } = state.runs;
  const number = active >= 0 ? active : (state.scrubbing ?? runs.at(-1)?.number);
  return state.sample?.length ? runs.find((run) => run.number === number) : undefined;
};

/** The ground of the run that is shown, or that of the next one. */
function showFloor(view) {
  const run = shownRun();
  const next = onGround() ? { slope: (values.slope * Math.PI) / 180 } : null;
  view.setFloor(run ? run.floor : next);
  if (!run) view.contacts.clear();
}

const FALLS = "Floats, and falls in a run; set it on the ground in Simulate. ";
const FLOATS = "Floats without gravity; the view goes along. ";
const STANDS = "Stands on the ground. ";
const about = () => (onGround() ? STANDS : state.design.gravity.some(Boolean) ? FALLS : FLOATS);

/** Where a robot is that the view goes along with, and how far it went. */
function showWay(view) {
  const way = byId("height");
  if (!way || !view.framing.travelled) return;
  const { x, y, z } = view.framing.travelled;
  const run = shownRun();
  if (!run || state.way?.run !== run.number) state.way = { run: run?.number ?? -1, t: state.sample?.[0] ?? 0, x, y };
  const went = Math.hypot(x - state.way.x, y - state.way.y);
  way.textContent = run?.ground
    ? `Went ${went.toFixed(2)} m in ${(state.sample[0] - state.way.t).toFixed(1)} s`
    : `Centre of mass at z = ${z.toFixed(2)} m`;
}

function placeLabels(view) {
  const box = byId("labels");
  for (const old of box.querySelectorAll(".name")) old.remove();
  if (!view.names || !view.design) return;
  for (const frame of view.design.frames) {
    const { x, y, behind } = view.pixel(frame.body, frame.X);
    if (!behind) box.append(h("span", { class: "name", style: { left: `${x}px`, top: `${y}px` } }, frame.name));
  }
}

function tip(view, port) {
  byId("labels").querySelector(".tip")?.remove();
  if (!port) return;
  const { x, y } = view.portPixel(port.ref);
  byId("labels").append(h("span", { class: "tip", style: { left: `${x}px`, top: `${y}px` } }, port.ref));
}
