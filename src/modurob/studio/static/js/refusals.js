// Wrong moves are explained where they happen: at the port, under the grid, under the text; otherwise at the foot of the page.

import { byId, h } from "./dom.js";
import { connection, on } from "./studio.js";

const AT_A_PORT = { dock: "at", connect: "b", duplicate: "at" };

export function toast(text) {
  const element = h("p", { class: "toast" }, text);
  byId("toasts").append(element);
  setTimeout(() => element.remove(), 6000);
}

export function startRefusals(view) {
  connection.on("refused", ({ command, message }) => {
    const place = document.querySelector(`.refusal[data-for~="${command.type}"]`);
    const ref = command[AT_A_PORT[command.type]];
    const pixel = ref && view.portPixel(ref);
    if (pixel) bubble(message, pixel);
    if (place) place.textContent = message;
    if (!pixel && !place) toast(message);
  });
  on("design", () => {
    byId("bubble").hidden = true;
    for (const place of document.querySelectorAll(".refusal")) place.textContent = "";
  });
}

function bubble(message, { x, y }) {
  const element = byId("bubble");
  const { clientWidth } = element.parentElement;
  element.textContent = message;
  element.hidden = false;
  element.style.left = `${Math.min(Math.max(x, 170), clientWidth - 170)}px`;
  element.style.top = `${Math.max(y, 110)}px`;
  clearTimeout(element.timer);
  element.timer = setTimeout(() => {
    element.hidden = true;
  }, 8000);
}
