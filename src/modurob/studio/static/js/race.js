// A race: the ticked runs at once, side by side on one ground, in a window of their own.

import { h } from "./dom.js";
import { refuse } from "./notices.js";
import { state } from "./studio.js";
import { start } from "./viewer.js";

const [FEWEST, MOST] = [2, 4];
const ABOUT = "Each run as it was, turned to go the same way, on a lane of its own: they do not touch each other.";

/** Open it; `numbers` are those of the runs. */
export async function openRace(numbers) {
  if (numbers.length < FEWEST || numbers.length > MOST)
    return refuse(`a race of ${numbers.length}: tick ${FEWEST} to ${MOST} runs, of one robot or of several`, "No race");
  const answer = await fetch(`./file/${state.session}/race.json?runs=${numbers.join()}`);
  if (!answer.ok) return refuse(await answer.text(), "No race");
  const { chapters, distances } = await answer.json();
  const close = h("button", { class: "button", id: "race-close", onclick: () => dialog.close() }, "Close");
  const places = h(
    "ol",
    { class: "row places", id: "race-places" },
    distances.map(({ name, distance }, i) => h("li", {}, h("b", {}, `${i + 1}. ${name}`), ` ${distance.toFixed(2)} m`)),
  );
  const label = "The runs side by side: drag turns the view, the wheel zooms";
  const stage = h(
    "div",
    { class: "race-stage" },
    h("canvas", { tabIndex: 0, role: "img", "aria-label": label }),
    h("div", { id: "tools", role: "toolbar", "aria-label": "View of the race" }),
    h("div", { id: "bar" }),
  );
  const dialog = h(
    "dialog",
    { id: "race", "aria-label": "Race" },
    h("div", { class: "row spread" }, h("h2", {}, "Race"), close),
    h("p", { class: "soft small" }, ABOUT),
    places,
    stage,
  );
  document.body.append(dialog);
  dialog.showModal();
  const dark = document.documentElement.dataset.theme === "dark";
  const shown = start({ chapters, low: window.studio.view.low, dark, from: [-0.35, -0.85, 0.5] }, dialog);
  window.studio.race = shown; // for tests
  dialog.addEventListener("close", () => {
    shown.player.pause();
    shown.view.renderer.dispose();
    dialog.remove();
  });
}
