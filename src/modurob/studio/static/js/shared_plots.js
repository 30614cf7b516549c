// The plots, on the panels that show runs: below the robot, or within the panel where the screen is small. They are made once.

import { byId, h } from "./dom.js";
import { makePlots } from "./plots.js";
import { changed, on, state } from "./studio.js";
import { join } from "./transport.js";

const PANELS = ["simulate", "motion"];
const narrow = matchMedia("(max-width: 820px)");
let plots = null;

function made() {
  document.head.append(h("link", { rel: "stylesheet", href: new URL("../vendor/uplot/uPlot.min.css", import.meta.url) }));
  plots = window.studio.plots = makePlots(PANELS); // for tests too
  join(plots);
  plots.setRuns(state.runs.runs);
  on("runs", () => {
    plots.setRuns(state.runs.runs);
    changed("plots");
  });
  on("panel", () => (plots.element.hidden = !PANELS.includes(state.panel)));
  return plots;
}

/** The plots; `below` is where they stand on a small screen while that panel is open. */
export function sharedPlots(panel, below) {
  const shown = plots ?? made();
  const place = () => {
    if (state.panel === panel) (narrow.matches ? below : byId("timeline")).append(shown.element);
  };
  narrow.addEventListener("change", place);
  on("panel", place);
  place();
  return shown;
}
