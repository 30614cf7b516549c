// Formulas typeset by KaTeX, and copied as the LaTeX they are made of.

import katex from "katex";
import { h } from "./dom.js";
import { tell } from "./notices.js";

// only what marks symbols is trusted
const OPTIONS = { throwOnError: false, maxExpand: 1e5, strict: false, trust: ({ command }) => command === "\\htmlData" };
let marked = []; // symbols that are known by name in formulas

/** From now on these symbols are marked in formulas: each has `latex` and a `name`. */
export function mark(symbols) {
  marked = symbols;
}

const withMarks = (latex) =>
  marked.reduce((text, { latex, name }) => text.replaceAll(latex, String.raw`\htmlData{symbol=${name}}{${latex}}`), latex);

/** A formula in a box that scrolls, which screen readers call by its label; `over(name)` is told the symbol under the pointer, or null. */
export function formula(latex, label, over = () => {}) {
  const box = h("div", {
    class: "equation",
    tabIndex: 0,
    role: "region",
    "aria-label": `Formula: ${label}`,
    onpointerover: ({ target }) => over(target.closest("[data-symbol]")?.dataset.symbol ?? null),
    onpointerleave: () => over(null),
  });
  katex.render(withMarks(latex).replaceAll(String.raw` \\ `, String.raw` \\[5pt] `), box, { ...OPTIONS, displayMode: true });
  return box;
}

/** A symbol within a line. */
export function symbol(latex) {
  const box = h("span", {});
  katex.render(latex, box, OPTIONS);
  return box;
}

export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    tell(`${what} copied: ${text.length} characters`);
  } catch {
    tell("The browser does not let this page copy: use Export instead.");
  }
}

export const copyButton = (what, text, key) =>
  h(
    "button",
    { class: "link small", "data-key": key, "aria-label": `Copy ${what}`, onclick: () => copy(text(), what) },
    "Copy",
  );
