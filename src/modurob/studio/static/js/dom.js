// Elements made and found in one call.

export const byId = (id) => document.getElementById(id);

/** An element: properties by name ("on..." listens, "aria-..." and "data-..." are attributes), then children. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.includes("-") || name === "role" || name === "for") element.setAttribute(name, value);
    else if (name === "class") element.className = value;
    else if (name === "style") Object.assign(element.style, value);
    else element[name] = value;
  }
  element.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Radio buttons in a row; `chosen(value)` is called when another is picked. */
export function segments(name, label, options, value, chosen) {
  return h(
    "div",
    { class: "segments", role: "radiogroup", "aria-label": label },
    options.map(([key, text]) =>
      h(
        "label",
        {},
        h("input", {
          type: "radio",
          name,
          value: key,
          "data-key": `${name} ${key}`,
          checked: key === value,
          onchange: () => chosen(key),
        }),
        text,
      ),
    ),
  );
}

/** Keeps focus on the element with the same id or data-key while its surroundings are drawn again. */
export function redraw(parent, ...children) {
  const active = document.activeElement;
  const key = parent.contains(active) ? active.dataset.key : null;
  parent.replaceChildren(...children.flat(2).filter(Boolean));
  if (key) parent.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}

const NOISE = 1e-12; // in SI units no robot has less: it is what rounding left

/** A number for people: few digits, no noise. */
export function shown(x, digits = 4) {
  const size = Math.abs(x);
  if (size < NOISE || !Number.isFinite(x)) return size < NOISE ? "0" : String(x);
  return size >= 1e5 || size < 1e-3 ? x.toExponential(2) : String(Number(x.toPrecision(digits)));
}

/** Calls f at most once a frame, with the newest arguments. */
export function everyFrame(f) {
  let waiting = null;
  return (...args) => {
    if (waiting === null)
      requestAnimationFrame(() => {
        const a = waiting;
        waiting = null;
        f(...a);
      });
    waiting = args;
  };
}
