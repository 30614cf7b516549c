// The one place for what the page has to say: refusals and errors, which stay until something succeeds, and news.

import { byId, h } from "./dom.js";
import { changed, connection } from "./studio.js";

// what was not done, by the command that was refused
const TITLES = {
  start_run: "Run not started",
  plan_motion: "No motion",
  dock: "Not docked",
  duplicate: "Not copied",
  mirror: "Not mirrored",
  undock: "Not undocked",
  connect: "Not connected",
  disconnect: "Not opened",
  set_base: "Not changed",
  mount: "Not set on a joint",
  compare_run: "Not compared",
  place_cell: "Not added",
  turn_cell: "Not turned",
  move_cell: "Not moved",
  read_matrix: "This matrix makes no robot",
  open: "Not opened",
  open_shipped: "Not opened",
  open_recent: "Not opened",
};
// commands that the page sends by itself: their success says nothing about what the user tried
const BY_ITSELF = new Set(["hello", "acknowledge", "fetch_run", "derive", "evaluate", "trace_run"]);
const SHORTEST = 5000; // milliseconds that news are shown

/** Say why something was not done, until something is. */
export function refuse(message, title = "Not done") {
  show(byId("refusal"), h("p", {}, h("b", {}, `${title}: `), message));
}

/** Say what happened, for a while. */
export function tell(message) {
  const news = byId("news");
  show(news, h("p", {}, message));
  clearTimeout(news.timer);
  news.timer = setTimeout(() => hide(news), SHORTEST + 60 * message.length);
}

export const succeeded = () => hide(byId("refusal"));

/** A notice in front of everything, also of a dialog. */
function show(notice, text) {
  notice.replaceChildren(
    h("div", { class: "words", tabIndex: 0, role: "group", "aria-label": "Notice" }, text),
    h("button", { class: "link", "aria-label": "Close this notice", onclick: () => hide(notice) }, "Close"),
  );
  (document.querySelector("dialog[open]") ?? document.body).append(byId("notices"));
}

const hide = (notice) => notice.replaceChildren();

export function startNotices() {
  connection.on("refused", ({ command, message }) => {
    refuse(message, TITLES[command.type]);
    changed("refused");
  });
  connection.on("done", ({ command }) => {
    if (!BY_ITSELF.has(command)) succeeded();
  });
  for (const dialog of document.querySelectorAll("dialog"))
    dialog.addEventListener("close", () => document.body.append(byId("notices")));
  addEventListener("error", ({ message }) => failed(message));
  addEventListener("unhandledrejection", ({ reason }) => failed(reason?.message ?? reason));
}

// a size that changes while sizes are looked at is looked at again: nothing has failed
const HARMLESS = /^ResizeObserver loop/;
const failed = (message) => HARMLESS.test(message) || refuse(`${message}. Reload it; the robot is saved.`, "A part of this page failed");
