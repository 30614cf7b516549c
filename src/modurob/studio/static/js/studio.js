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
  offers: { controllers: [], filters: [], gaits: [], generators: [], steppers: [], exports: [], interpolations: [] }, // what is registered
  design: null, // the robot as the server describes it
  pose: null,
  runs: { runs: [], state: "idle", active: -1, t: 0, speed: 1 },
  session: "",
  shareKey: "", // opens this studio in a browser that does not know it
  kind: "backbone", // what the next click docks,
  by: "4", // by which of its ports,
  roll: 0, // turned how far [degrees]
  selected: null, // name of a module
  copying: null, // name of the module whose branch the next click on a port copies
  symbols: new Set(["masses", "lengths", "gravity"]), // what equations do not show as numbers
  shorthand: true, // c12 for cos(q1 + q2)
  derived: null, // the design whose equations are shown
  lit: [], // bodies that something pointed at belongs to
};

const listeners = new Map();

/** Call `listener` when a part of the state has changed: design, pose, runs, settings, way points, plots, gait, choice, selection, lit, panel, theme, refused. */
export function on(what, listener) {
  if (!listeners.has(what)) listeners.set(what, []);
  listeners.get(what).push(listener);
}

/** One part of the page that fails does not keep the others from being told. */
export function changed(what) {
  for (const listener of listeners.get(what) ?? []) {
    try {
      listener(state);
    } catch (error) {
      reportError(error);
    }
  }
}

export const send = (type, fields) => connection.send(type, fields);

/** All module types that can be docked: those of the catalogue, and the robot's own. */
export const allTypes = () => [...state.types, ...(state.design?.types ?? [])];
export const typeOf = (kind) => allTypes().find((type) => type.name === kind);
export const moduleOf = (name) => state.design?.modules.find((module) => module.name === name);
export const ofModules = () => state.design?.made_of === "modules";

/** Where a file of the session is; equations with the symbols that are chosen. */
export function fileAddress(name) {
  const symbols = name.startsWith("equations")
    ? `?${new URLSearchParams({ symbols: [...state.symbols].join(), shorthand: state.shorthand ? "1" : "0" })}`
    : "";
  return `./file/${state.session}/${name}${symbols}`;
}

/** Dock the chosen module at a port, or the copy of a branch if one is being placed. */
export function dockAt(ref) {
  if (state.copying) send("duplicate", { module: state.copying, at: ref });
  else send("dock", { kind: state.kind, at: ref, by: state.by, roll: state.roll });
}

/** The next click on a port copies the branch of a module; null: it docks again. */
export function copy(name) {
  state.copying = name;
  changed("choice");
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
