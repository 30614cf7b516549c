// What poses the robot, on each panel that needs it: sliders, and a frame to pull. It is made once and stands where one looks.

import { h } from "./dom.js";
import { makeReach } from "./reach.js";
import { makeSliders } from "./sliders.js";
import { on, send, state } from "./studio.js";

let tools = null;

const make = () =>
  h(
    "div",
    {},
    h(
      "div",
      { class: "group" },
      h("h2", {}, "Pose"),
      makeSliders(),
      h(
        "div",
        { class: "row", style: { marginTop: "6px" } },
        h("button", { class: "button", onclick: () => send("reset_pose") }, "All to zero"),
        h("span", { class: "soft small" }, "Runs start from this pose and these rates."),
      ),
    ),
    h("div", { class: "group" }, h("h2", {}, "Reach"), makeReach()),
  );

/** A place for the tools; they stand there while that panel is open. */
export function poseTools(panel) {
  const place = h("div", {});
  const take = () => {
    if (state.panel === panel) place.append((tools ??= make()));
  };
  on("panel", take);
  take();
  return place;
}
