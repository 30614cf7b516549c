// Which joints are plotted: a button for each; where there are too many, for those shown, and a field to add others.

import { h, redraw } from "./dom.js";
import { refuse } from "./notices.js";

const MOST = 24; // buttons

export const chip = (label, pressed, onclick) =>
  h("button", { class: "chip", "data-key": label, "aria-pressed": String(pressed), onclick }, label);

/** Draw them into a box: `names` of all joints, the set of those `shown`, and what to do when it has changed. */
export function drawJoints(box, names, shown, changed) {
  const toggle = (name) => {
    shown.has(name) ? shown.delete(name) : shown.add(name);
    changed();
  };
  const listed = names.length > MOST ? names.filter((name) => shown.has(name)) : names;
  const chips = listed.map((name) => chip(name, shown.has(name), () => toggle(name)));
  redraw(box, chips, names.length > MOST && more(names, listed.length, toggle));
}

function more(names, shown, toggle) {
  const list = h(
    "datalist",
    { id: "all-joints" },
    names.map((name) => h("option", { value: name })),
  );
  const field = h("input", {
    type: "text",
    placeholder: "add a joint",
    "aria-label": "Joint to add to the plots, or to remove",
    "data-key": "add joint",
    style: { width: "150px" },
    onchange: ({ target }) => {
      const name = target.value.trim();
      target.value = "";
      if (names.includes(name)) toggle(name);
      else if (name) refuse(`no joint ${name} in this run; it has ${names[0]} to ${names.at(-1)}`, "Not plotted");
    },
  });
  field.setAttribute("list", "all-joints");
  return [h("span", { class: "small" }, `${shown} of ${names.length} joints`), field, list];
}
