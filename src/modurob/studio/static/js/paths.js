// Trails: the paths of chosen frames, drawn in the 3D view over the run that is shown.

import { h, redraw } from "./dom.js";
import { connection, on, send, state } from "./studio.js";

const EVERY = 300; // milliseconds between looks at a run that goes on
const MOST = 12; // frames
const chosen = new Set(); // names of frames

/** The group of the panel that chooses them; `shownRun()` is the run in the view, if any. */
export function makePaths(shownRun) {
  const box = h("div", { class: "row" });
  const frames = () => state.design?.frames.map(({ name }) => name) ?? [];
  const draw = () => {
    const others = frames().filter((name) => !chosen.has(name));
    redraw(
      box,
      h(
        "select",
        {
          id: "add-trail",
          "aria-label": "Frame whose path is drawn",
          "data-key": "add trail",
          disabled: chosen.size >= MOST,
          onchange: ({ target }) => toggle(target.value),
        },
        h("option", { value: "" }, "draw the path of …"),
        others.map((name) => h("option", { value: name }, name)),
      ),
      [...chosen].map((name) =>
        h(
          "button",
          { class: "chip", "aria-pressed": "true", "data-key": `trail ${name}`, title: "Draw it no more", onclick: () => toggle(name) },
          name,
        ),
      ),
    );
  };
  const toggle = (name) => {
    if (!chosen.delete(name)) chosen.add(name);
    draw();
    ask();
  };
  let waiting = 0;
  const ask = () => {
    const run = shownRun();
    const own = run?.robot === state.design?.robot;
    if (!chosen.size || !own) return window.studio.view.setTrails([]);
    waiting ||= setTimeout(() => {
      waiting = 0;
      if (shownRun()?.robot === state.design.robot) send("trace_run", { run: shownRun().number, frames: [...chosen] });
    }, EVERY);
  };
  connection.on("trails", ({ paths }) => {
    window.studio.view.setTrails(paths);
    if (state.sample?.length) window.studio.view.trails.at(state.sample[0]);
  });
  on("sample", () => {
    // a run that has ended is known whole
    if (state.runs.active >= 0) ask();
  });
  on("design", () => {
    for (const name of [...chosen]) if (!frames().includes(name)) chosen.delete(name);
    draw();
    ask();
  });
  for (const what of ["runs", "plots"]) on(what, ask);
  draw();
  return h("div", { class: "row small trails" }, h("span", {}, "Trails"), box);
}
