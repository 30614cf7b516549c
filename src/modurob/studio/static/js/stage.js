// The 3D view on the page: its buttons, its captions, and the frames that come from the server.

import { byId, everyFrame, h, shown } from "./dom.js";
import { toast } from "./refusals.js";
import { changed, connection, dockAt, fits, on, select, send, state, typeOf } from "./studio.js";
import { View } from "./view.js";

const LAYERS = ["ports", "frames", "centres", "ellipsoids"];

/** Whether pictures are drawn without a graphics card. */
function drawnInSoftware() {
  const gl = document.createElement("canvas").getContext("webgl");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  return info ? /swiftshader|llvmpipe|software/i.test(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : false;
}

export function startStage() {
  const detail = new URLSearchParams(location.search).get("detail");
  const low = detail === "low" || (detail !== "high" && drawnInSoftware());
  const view = new View(
    byId("canvas"),
    {
      port: dockAt,
      module: select,
      empty: () => {
        state.selected = null;
        changed("selection");
      },
      hover: (port) => {
        byId("hint").textContent = port ? hint(port) : "";
        tip(view, port);
        view.preview(port && !state.copying && fits(port) ? port : null, typeOf(state.kind), state.by, state.roll);
      },
      slow: () => {
        if (view.kept) return;
        byId("view-low").click();
        toast("Low detail, since this machine draws slowly; the button above the robot brings it back.");
      },
    },
    low,
  );
  for (const layer of LAYERS) toggle(`view-${layer}`, (visible) => view.setVisible(layer, visible));
  toggle("view-names", (visible) => {
    view.names = visible;
    placeLabels(view);
  });
  toggle("view-low", (low) => {
    view.setLow(low);
    view.kept ||= !low;
  });
  byId("view-low").setAttribute("aria-pressed", String(low));
  view.kept = detail === "high";
  byId("view-fit").onclick = () => view.fit();
  view.afterDraw = everyFrame(() => placeLabels(view));

  on("design", () => {
    const before = view.design?.modules.length ?? 0;
    view.setRobot(state.design);
    // room for what was added; the view stays where it is otherwise
    view.pendingFit ||= Math.abs(state.design.modules.length - before) > 1;
    view.mayGrow = true;
    showFacts();
  });
  on("choice", () => view.setFits((port) => Boolean(state.copying) || fits(port)));
  on("selection", () => view.setSelected(state.selected));
  on("theme", () => view.setTheme(document.documentElement.dataset.theme));

  connection.on("frame", ({ number, bodies, poses, sample }) => {
    if (bodies === state.design?.bodies.length) {
      view.setPoses(poses);
      if (view.mayGrow) keepInView(view);
      state.sample = sample;
      if (sample.length) changed("sample");
    }
    requestAnimationFrame(() => send("acknowledge", { number }));
  });
  return view;
}

/** After an edit: step back if something would be out of sight. */
function keepInView(view) {
  view.mayGrow = false;
  const { clientWidth, clientHeight } = view.canvas;
  const out = view.design.ports.some((port) => {
    const { x, y } = view.pixel(port.body, port.X);
    return x < 20 || y < 48 || x > clientWidth - 20 || y > clientHeight - 60;
  });
  if (out) view.fit();
}

function toggle(id, act) {
  byId(id).onclick = () => {
    const on = byId(id).getAttribute("aria-pressed") !== "true";
    byId(id).setAttribute("aria-pressed", String(on));
    act(on);
  };
}

const hint = (port) =>
  fits(port)
    ? `${port.ref}: click to dock a ${state.kind} by ${state.by}`
    : `${port.ref}: a ${state.kind} does not fit here`;

function showFacts() {
  const { modules, freedoms, idle, loops, mass } = state.design;
  const count = (n, word) => [h("b", {}, String(n)), ` ${word}${n === 1 ? "" : "s"}`];
  byId("facts").replaceChildren(
    ...count(modules.length, "module"),
    " · ",
    ...count(freedoms, "freedom"),
    ...(idle.length ? [" · ", h("b", {}, String(idle.length)), " idle"] : []),
    ...(loops.length ? [" · ", ...count(loops.length, "loop")] : []),
    ...(mass ? [` · ${shown(mass, 3)} kg moving`] : []),
  );
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
