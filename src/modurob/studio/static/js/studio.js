// What all panels share: the state that the server told, what the user has chosen, and the connection.

import { Connection } from "./connection.js";

/** This tab's memory, kept apart for each server; without storage the page still works. */
const place = (key) => `modurob.${location.port}.${key}`;
export const storage = {
  get(key) {
    try {
      return localStorage.getItem(place(key));
    } catch {
      return null;
    }
  },
  set(key, value) {
    try {
      localStorage.setItem(place(key), value);
    } catch {
      /* private windows may refuse */
    }
  },
};

export const connection = new Connection(storage);

export const state = {
  types: [], // the catalogue
  design: null, // the robot as the server describes it
  pose: null,
  runs: { runs: [], state: "idle", active: -1, t: 0, speed: 1 },
  session: "",
  kind: "backbone", // what the next click docks,
  by: "4", // by which of its ports,
  roll: 0, // turned how far [degrees]
  selected: null, // name of a module
  copying: null, // name of the module whose branch the next click on a port copies
};

const listeners = new Map();

/** Call `listener` whenever that part of the state has changed: design, pose, runs, choice, selection, panel, theme. */
export function on(what, listener) {
  if (!listeners.has(what)) listeners.set(what, []);
  listeners.get(what).push(listener);
}

export function changed(what) {
  for (const listener of listeners.get(what) ?? []) listener(state);
}

export const send = (type, fields) => connection.send(type, fields);

export const typeOf = (kind) => state.types.find((type) => type.name === kind);
export const moduleOf = (name) => state.design?.modules.find((module) => module.name === name);
export const fileAddress = (name) => `./file/${state.session}/${name}`;

/** Dock the chosen module at a port, or the copy of a branch if one is being placed. */
export function dockAt(ref) {
  if (state.copying) {
    send("duplicate", { module: state.copying, at: ref });
    state.copying = null;
    changed("choice");
  } else {
    send("dock", { kind: state.kind, at: ref, by: state.by, roll: state.roll });
  }
}

export function select(name) {
  state.selected = state.selected === name ? null : name;
  changed("selection");
}

/** Whether the chosen module can dock at a port. */
export function fits(port) {
  const own = typeOf(state.kind)?.ports.find((p) => p.name === state.by);
  if (!own || own.connector !== port.connector || own.size !== port.size) return false;
  const genders = [own.gender, port.gender].sort().join();
  return genders === "none,none" || genders === "female,male";
}
