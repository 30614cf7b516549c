// The websocket to the server: commands out, events and frames in; tries again when it is lost.

const FRAME = 1;
const CONTACTS = 3;
const LONGEST = 2e6; // characters of one command
// what the page sends by itself, and will send again
const REPEATED = new Set(["hello", "acknowledge", "fetch_run", "derive", "evaluate", "scrub", "trace_run"]);
const OFFLINE = "this page is not connected to the studio; it tries again by itself";

export class Connection {
  #socket = null;
  #listeners = new Map();
  #delay = 300;

  constructor(storage) {
    this.storage = storage;
  }

  /** Call `listener` with each event of that type; the types "frame", "history", "contacts", "open" and "lost" are this side's own. */
  on(type, listener) {
    if (!this.#listeners.has(type)) this.#listeners.set(type, []);
    this.#listeners.get(type).push(listener);
  }

  /** Call `listener` with the next event of that type, after all others. */
  once(type, listener) {
    const told = (event) => {
      this.#listeners.set(type, this.#listeners.get(type).filter((other) => other !== told));
      listener(event);
    };
    this.on(type, told);
  }

  send(type, fields = {}) {
    const text = JSON.stringify({ type, ...fields });
    const refuse = (message) => this.#tell("refused", { command: { type, ...fields, text: "" }, message });
    if (text.length > LONGEST) refuse("this text is too long: the studio reads at most 2 MB");
    else if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(text);
    else if (!REPEATED.has(type)) refuse(OFFLINE);
  }

  open() {
    const address = new URL("./socket", location.href);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    address.search = location.search;
    this.#socket = new WebSocket(address);
    this.#socket.binaryType = "arraybuffer";
    this.#socket.onopen = () => {
      this.#delay = 300;
      this.send("hello", { session: this.storage.get("session") ?? "" });
      this.#tell("open", {});
    };
    this.#socket.onmessage = ({ data }) =>
      typeof data === "string" ? this.#event(JSON.parse(data)) : this.#binary(data);
    this.#socket.onclose = ({ reason }) => {
      this.#tell("lost", { reason });
      setTimeout(() => this.open(), this.#delay);
      this.#delay = Math.min(2 * this.#delay, 5000);
    };
  }

  /** Let the connection go, as a network may; it comes back by itself. */
  drop() {
    this.#socket.close();
  }

  #event(event) {
    if (event.type === "welcome") this.storage.set("session", event.session);
    this.#tell(event.type, event);
  }

  #binary(data) {
    const [kind, number, rows, columns] = new Uint32Array(data, 0, 4);
    if (kind === FRAME) {
      const poses = new Float32Array(data, 16, 12 * rows);
      this.#tell("frame", { number, bodies: rows, poses, sample: new Float32Array(data, 16 + 48 * rows, columns) });
    } else if (kind === CONTACTS) {
      this.#tell("contacts", { touching: new Float32Array(data, 16, rows * columns) });
    } else {
      this.#tell("history", { run: number, rows, columns, samples: new Float32Array(data, 16) });
    }
  }

  #tell(type, event) {
    for (const listener of this.#listeners.get(type) ?? []) {
      try {
        listener(event);
      } catch (error) {
        reportError(error);
      }
    }
  }
}
