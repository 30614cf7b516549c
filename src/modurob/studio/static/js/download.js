// Files saved by the browser: made in the page, or by the server.

import { h } from "./dom.js";
import { refuse } from "./notices.js";
import { fileAddress } from "./studio.js";

export function download(blob, name) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** The answer of the server to a request for a file of the session; null, and the reason shown, if it refuses. */
export async function fetched(name) {
  try {
    const answer = await fetch(fileAddress(name));
    if (answer.ok) return answer;
    refuse(await answer.text(), "No file");
  } catch {
    refuse("the studio does not answer; it may have been stopped", "No file");
  }
  return null;
}

/** Save a file of the session under the name that the server gives it. */
export async function saveFile(name) {
  const answer = await fetched(name);
  if (answer) download(await answer.blob(), savedAs(answer) ?? name);
}

function savedAs(answer) {
  const found = /filename\*=UTF-8''([^;]+)/.exec(answer.headers.get("Content-Disposition") ?? "");
  return found && decodeURIComponent(found[1]);
}
