// The Simulate panel: the list of runs, the settings of the next one, gravity.

import { byId, h, redraw, shown } from "./dom.js";
import { makePlots } from "./plots.js";
import { makeForm } from "./settings.js";
import { on, send, state } from "./studio.js";
import { startTransport } from "./transport.js";

export function start(panel) {
  document.head.append(h("link", { rel: "stylesheet", href: "./static/vendor/uplot/uPlot.min.css" }));
  const runs = h("ul", { class: "list", id: "runs" });
  const gravity = h("div", { class: "row" });
  panel.append(
    h("div", { class: "group" }, h("h2", {}, "Runs"), runs),
    makeForm(),
    h(
      "div",
      { class: "group" },
      h("h2", {}, "Gravity"),
      gravity,
      h("p", { class: "refusal", "data-for": "start_run set_gravity", role: "alert" }),
    ),
  );
  const plots = makePlots();
  startTransport(byId("timeline"), plots);
  on("runs", () => drawRuns(runs, plots));
  on("design", () => drawGravity(gravity));
  drawRuns(runs, plots);
  drawGravity(gravity);
}

function drawGravity(box) {
  const { gravity } = state.design;
  redraw(
    box,
    ["x", "y", "z"].map((axis, i) =>
      h(
        "label",
        { class: "row small" },
        axis,
        h("input", {
          type: "number",
          step: "any",
          value: gravity[i],
          "data-key": `gravity ${axis}`,
          style: { width: "84px" },
          onchange: (e) =>
            send("set_gravity", { gravity: gravity.map((g, k) => (k === i ? Number(e.target.value) : g)) }),
        }),
      ),
    ),
    h("span", { class: "soft small" }, "m/s²"),
  );
}

function drawRuns(list, plots) {
  const { runs, active } = state.runs;
  plots.setRuns(runs);
  redraw(
    list,
    runs.length
      ? runs.toReversed().map((run) =>
          h(
            "li",
            {},
            h("input", {
              type: "checkbox",
              "data-key": `plot ${run.number}`,
              checked: plots.shows(run.number),
              "aria-label": `Plot run ${run.number}`,
              onchange: (e) => plots.toggle(run.number, e.target.checked),
            }),
            h(
              "span",
              { class: "grow" },
              `Run ${run.number}: ${describe(run)}`,
              h("small", { class: "soft", style: { display: "block" } }, story(run, active)),
            ),
            h(
              "button",
              {
                class: "link small",
                "data-key": `delete ${run.number}`,
                "aria-label": `Delete run ${run.number}`,
                onclick: () => send("delete_run", { run: run.number }),
              },
              "delete",
            ),
          ),
        )
      : h("li", { class: "soft small" }, "None yet. Press Run; tick two runs to compare them."),
  );
}

const story = ({ number, before, t, status }, active) =>
  [before < 0 ? null : `goes on from run ${before}`, `${shown(t, 3)} s`, number === active ? "going on" : status]
    .filter(Boolean)
    .join(", ");

const describe = ({ controller, reference, gait, filtered }) =>
  [
    { computed_torque: "computed torque", pole_placement: "pole placement", pid: "PID", none: "free motion" }[
      controller
    ],
    controller === "none" ? null : { set_point: "set point", hold: "hold", gait: `${gait} gait` }[reference],
    filtered ? "EKF" : null,
  ]
    .filter(Boolean)
    .join(", ");
