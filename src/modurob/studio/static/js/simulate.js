// The Simulate panel: the list of runs, the settings of the next one, gravity.

import { h, redraw, shown } from "./dom.js";
import { numberField } from "./fields.js";
import { makeForm } from "./form.js";
import { makePaths } from "./paths.js";
import { sharedPlots } from "./shared_plots.js";
import { on, send, state } from "./studio.js";

export function start(panel) {
  const runs = h("ul", { class: "list", id: "runs" });
  const gravity = h("div", { class: "row" });
  const below = h("div", {}); // the plots, where the screen is too small for them beside the robot
  const plots = sharedPlots("simulate", below);
  panel.append(
    below,
    h(
      "div",
      { class: "group" },
      h("h2", {}, "Runs"),
      runs,
      h(
        "button",
        {
          class: "button small",
          id: "open-race",
          title: "The ticked runs at once, side by side: two to four, of one robot or of several",
          onclick: async () => (await import("./race.js")).openRace(plots.chosen),
        },
        "Race the ticked runs",
      ),
      makePaths(() => seen(plots)),
    ),
    makeForm(),
    h("div", { class: "group" }, h("h2", {}, "Gravity"), gravity),
  );
  on("runs", () => drawRuns(runs, plots));
  on("design", () => drawGravity(gravity));
  drawRuns(runs, plots);
  drawGravity(gravity);
}

function drawGravity(box) {
  redraw(
    box,
    ["x", "y", "z"].map((axis, i) =>
      h(
        "label",
        { class: "row small" },
        axis,
        numberField({
          label: `gravity along ${axis}`,
          value: () => state.design.gravity[i],
          set: (x) => send("set_gravity", { gravity: state.design.gravity.map((g, k) => (k === i ? x : g)) }),
          "data-key": `gravity ${axis}`,
          style: { width: "84px" },
        }),
      ),
    ),
    h("span", { class: "soft small" }, "m/s²"),
  );
}

function drawRuns(list, plots) {
  const { runs, active } = state.runs;
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
            comparable(run, active) &&
              h(
                "button",
                {
                  class: "link small",
                  "data-key": `compare ${run.number}`,
                  "aria-label": `Compare run ${run.number} with Lagrange's equations`,
                  title: "The same run by Lagrange's equations in closed form, beside this one by Newton and Euler",
                  onclick: () => send("compare_run", { run: run.number }),
                },
                "Lagrange",
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
      : h("li", { class: "soft small" }, "None yet. Press Run; tick several runs to compare them."),
  );
}

/** The run that the 3D view shows: the one that goes on, or the one that is scrubbed. */
function seen(plots) {
  const { runs, active } = state.runs;
  return runs.find(({ number }) => number === (active >= 0 ? active : plots.scrubbed()));
}

/** Whether a run may be repeated by Lagrange's equations: the server says why another may not. */
const comparable = ({ number, robot, planned, twin }, active) =>
  number !== active && robot === state.design?.robot && !planned && twin === undefined;

const story = ({ number, before, t, status }, active) =>
  [before < 0 ? null : `goes on from run ${before}`, `${shown(t, 3)} s`, number === active ? "going on" : status]
    .filter(Boolean)
    .join(", ");

const labelOf = (what, wanted) => state.offers[what].find(({ name }) => name === wanted)?.label ?? wanted;

const describe = ({ label, controller, reference, gait, filter, ground }) =>
  label ?? [
    controller === "none" ? "free motion" : labelOf("controllers", controller),
    controller === "none" ? null : { set_point: "set point", hold: "hold", gait: `${gait} gait`, motion: "way points" }[reference],
    controller === "none" || filter === "none" ? null : labelOf("filters", filter),
    ground ? "on the ground" : null,
  ]
    .filter(Boolean)
    .join(", ");
