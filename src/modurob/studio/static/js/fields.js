// Fields for numbers: what is not taken is told, and the field shows the value that is in force again.

import { h, shown } from "./dom.js";
import { refuse } from "./notices.js";
import { on } from "./studio.js";

const DIGITS = 7;

/** A field: `value()` is in force, `set(x)` is called with a number within `min` and `max`; messages name `label`. */
export function numberField({ label, value, set, min, max, digits = DIGITS, ...properties }) {
  const bounds = { min: min ?? "", max: max ?? "" };
  const field = h("input", { type: "number", step: "any", ...bounds, "data-number": "", ...properties });
  const place = () => {
    const x = value();
    field.value = Number.isFinite(x) ? shown(x, digits) : "";
  };
  field.addEventListener("refresh", place);
  field.addEventListener("change", () => {
    const why = complaint(field, min, max);
    if (why) refuse(`${why}; it stays ${shown(value(), digits)}`, label);
    else set(Number(field.value));
    if (why) place();
  });
  place();
  return field;
}

function complaint({ value, validity }, min, max) {
  if (validity.badInput) return "expected a number";
  if (value === "") return "the field is empty, expected a number";
  const x = Number(value);
  const [low, high] = [min ?? -Infinity, max ?? Infinity];
  if (x >= low && x <= high) return "";
  return `${shown(x, DIGITS)} is out of range, expected ${span(low, high)}`;
}

function span(low, high) {
  if (low === -Infinity) return `at most ${shown(high)}`;
  return high === Infinity ? `at least ${shown(low)}` : `${shown(low)} to ${shown(high)}`;
}

/** All fields below an element show what is in force; one that is being typed in only if `all`. */
export function refresh(parent, all = false) {
  for (const field of parent.querySelectorAll("[data-number]"))
    if (all || field !== document.activeElement) field.dispatchEvent(new Event("refresh"));
}

// what was refused does not stay in a field
on("refused", () => refresh(document, true));
