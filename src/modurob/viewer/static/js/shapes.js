// Boxes with rounded edges, cylinders along z, spheres.

import * as THREE from "three";
import { RoundedBoxGeometry } from "three/RoundedBoxGeometry.js";

/** The geometry of a shape; in low detail with as few triangles as still look like it. */
export function geometryOf({ kind, size }, low = false) {
  if (kind === "box")
    return low ? new THREE.BoxGeometry(...size) : new RoundedBoxGeometry(...size, 2, 0.09 * Math.min(...size));
  if (kind === "cylinder")
    return new THREE.CylinderGeometry(size[0], size[0], size[1], low ? 10 : 32).rotateX(Math.PI / 2);
  return low ? new THREE.IcosahedronGeometry(size[0], 1) : new THREE.SphereGeometry(size[0], 24, 16);
}

/** What shapes are made of. */
export const material = (low) =>
  low ? new THREE.MeshLambertMaterial() : new THREE.MeshStandardMaterial({ roughness: 0.48, metalness: 0.08 });

export const KNOB = 0.23; // how far a port's ball is off its face, in module widths

/** A port: a foot on the face and a ball a little off it, so that it is seen from most sides. */
export function knob(size, low = false) {
  if (low) return shaded(new THREE.OctahedronGeometry(0.14 * size).translate(0, 0, KNOB * size), size);
  const arc = Array.from({ length: 9 }, (_, i) => (Math.PI * (i + 1)) / 10 - Math.PI / 2);
  const ball = arc.map((a) => [0.105 * Math.cos(a), KNOB + 0.105 * Math.sin(a)]);
  const outline = [[0.17, 0], [0.17, 0.03], [0.045, 0.045], [0.045, 0.14], ...ball, [0, KNOB + 0.105]];
  return shaded(
    new THREE.LatheGeometry(
      outline.map(([x, y]) => new THREE.Vector2(x * size, y * size)),
      20,
    ).rotateX(Math.PI / 2),
    size,
  );
}

/** Lighter towards the end, since ports shine by themselves. */
function shaded(geometry, size) {
  const { position } = geometry.attributes;
  const shades = Array.from({ length: position.count }, (_, i) =>
    Math.min(1, 0.55 + (0.45 * position.getZ(i)) / (KNOB * size)),
  );
  geometry.setAttribute(
    "color",
    new THREE.Float32BufferAttribute(
      shades.flatMap((x) => [x, x, x]),
      3,
    ),
  );
  return geometry;
}
