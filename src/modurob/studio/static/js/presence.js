// Whether the server is there: shown in the bar, and explained when it is not.

import { byId } from "./dom.js";
import { refuse, succeeded, tell } from "./notices.js";
import { connection, on, state } from "./studio.js";

const PATIENCE = 1500; // milliseconds without a connection before it is explained
const GONE =
  "It is not running, or cannot be reached. Every edit up to now is saved; this page goes on when it is back.";
const ANOTHER =
  "It was started again, with another token. Every edit up to now is saved: open the address that it printed, in this " +
  "browser, and this robot is there.";

export function startPresence() {
  let told = ""; // the explanation that is shown
  let lost = 0; // when the connection went, or 0
  const explain = async () => {
    const text = await why();
    if (lost && text !== told) refuse(text, "The studio does not answer");
    told = text;
  };
  connection.on("welcome", () => {
    if (told) succeeded();
    [told, lost] = ["", 0];
    label("connected", false);
  });
  on("design", () => {
    const { unsaved } = state.design;
    if (unsaved && byId("connection").title !== unsaved) tell(unsaved);
    byId("connection").title = unsaved;
    label(unsaved ? "not saved" : "connected", Boolean(unsaved));
  });
  connection.on("lost", ({ reason }) => {
    label(reason || "connection lost", true);
    lost ||= Date.now();
    // told again only when it has become something else
    setTimeout(() => lost && explain(), Math.max(0, lost + PATIENCE - Date.now()));
  });
}

function label(text, lost) {
  byId("connection").textContent = text;
  byId("connection").classList.toggle("lost", lost);
}

async function why() {
  try {
    return (await fetch("./", { method: "HEAD" })).status === 403 ? ANOTHER : GONE;
  } catch {
    return GONE;
  }
}
