// Way points of the robot that is shown, and what goes between them: kept for each shape of the robot while the page is open.

import { changed, state } from "./studio.js";

const STEP = 1; // seconds from one to the next, unless told otherwise
const kept = new Map(); // robot -> [{ t, q }]
/** What goes between the way points, and within which limits. */
export const how = { interpolation: "minimum-jerk", timing: "listed", velocity: 1, acceleration: 4, jerk: 40, blend: 0.2 };

export const points = () => kept.get(state.design?.robot) ?? [];
const put = (list) => {
  kept.set(state.design.robot, list);
  changed("way points");
};

/** The motion as the server wants it. */
export const motion = () => ({ ...how, points: points().map(({ t, q }) => ({ t, q: [...q] })) });

export function setHow(name, value) {
  how[name] = value;
  changed("way points");
}

/** The present pose as the last way point, a while after the one before. */
export function add() {
  const list = points();
  put([...list, { t: list.length ? list.at(-1).t + STEP : 0, q: [...state.pose.q] }]);
}

export const clear = () => put([]);
export const remove = (i) => put(points().filter((_, k) => k !== i));
export const setTime = (i, t) => put(points().map((point, k) => (k === i ? { ...point, t } : point)));
export const setPose = (i) => put(points().map((point, k) => (k === i ? { ...point, q: [...state.pose.q] } : point)));

/** Poses change places; times stay in their order. */
export function move(i, by) {
  const list = points();
  const [here, there] = [list[i], list[i + by]];
  if (there) put(list.map((point, k) => (k === i ? { ...point, q: there.q } : k === i + by ? { ...point, q: here.q } : point)));
}
