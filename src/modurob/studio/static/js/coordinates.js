// What the coordinates and rates of joints are called; those of one coordinate need no name.

const COORDINATES = {
  free: ["x", "y", "z", "qw", "qx", "qy", "qz"],
  spherical: ["qw", "qx", "qy", "qz"],
  planar: ["x", "y", "angle"],
  cylindrical: ["slide", "angle"],
  universal: ["angle 1", "angle 2"],
};
const RATES = {
  free: ["vx", "vy", "vz", "wx", "wy", "wz"],
  spherical: ["wx", "wy", "wz"],
  planar: ["x", "y", "angle"],
  cylindrical: ["slide", "angle"],
  universal: ["angle 1", "angle 2"],
};

const named = (names, kind, k) => (names[kind] ? ` ${names[kind][k]}` : "");

/** After the name of a joint: which of its coordinates. */
export const coordinateName = (kind, k) => named(COORDINATES, kind, k);
export const rateName = (kind, k) => named(RATES, kind, k);
