// Boxes with rounded edges, cylinders along z, spheres.

import * as THREE from "three";
import { RoundedBoxGeometry } from "three/RoundedBoxGeometry.js";

/** The geometry of a shape; in low detail with as few triangles as still look like it. */
export function geometryOf({ kind, size, mesh }, low = false) {
  if (kind === "box")
    return low ? new THREE.BoxGeometry(...size) : new RoundedBoxGeometry(...size, 2, 0.09 * Math.min(...size));
  if (kind === "mesh") return triangles(mesh);
  if (kind === "cylinder")
    return new THREE.CylinderGeometry(size[0], size[0], size[1], low ? 10 : 32).rotateX(Math.PI / 2);
  return low ? new THREE.IcosahedronGeometry(size[0], 1) : new THREE.SphereGeometry(size[0], 24, 16);
}

/** Triangles that came as text: points and faces, each in base64. */
function triangles({ points, faces }) {
  const numbers = (text, kind) => new kind(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(numbers(points, Float32Array), 3));
  geometry.setIndex(new THREE.BufferAttribute(numbers(faces, Uint32Array), 1));
  const flat = geometry.toNonIndexed();
  flat.computeVertexNormals();
  geometry.dispose();
  return flat;
}

const INSET = 0.1; // of a seam from the edges of its face, in the smallest edge of the shape
const GROOVE = 0.008; // half its width

/** What a shape is made of: in high detail a shell with a seam round each face. */
export function material(shape, low) {
  if (low) return new THREE.MeshLambertMaterial();
  const made = new THREE.MeshStandardMaterial({ roughness: 0.48, metalness: 0.08 });
  if (["box", "cylinder"].includes(shape.kind)) made.onBeforeCompile = (shader) => addSeams(shader, shape);
  made.customProgramCacheKey = () => `seams ${shape.kind}`;
  return made;
}

// how far a point of the surface is from the nearest edge
const FROM_EDGE = {
  box: "vec3 d = seamHalf - abs(seamAt); float edge = max(min(d.x, d.y), min(max(d.x, d.y), d.z));",
  cylinder: "float edge = max(seamHalf.x - length(seamAt.xy), seamHalf.z - abs(seamAt.z));",
};

/** Darkens a thin line at a distance from all edges, drawn where the surface is, not as a line of its own. */
function addSeams(shader, { kind, size }) {
  const half = kind === "box" ? size.map((x) => x / 2) : [size[0], size[0], size[1] / 2];
  const least = 2 * Math.min(...half);
  shader.uniforms.seamHalf = { value: new THREE.Vector3(...half) };
  shader.uniforms.seamInset = { value: INSET * least };
  shader.uniforms.seamGroove = { value: GROOVE * least };
  shader.vertexShader = shader.vertexShader
    .replace("#include <common>", "#include <common>\nvarying vec3 seamAt;")
    .replace("#include <begin_vertex>", "#include <begin_vertex>\nseamAt = position;");
  const declared = "varying vec3 seamAt; uniform vec3 seamHalf; uniform float seamInset, seamGroove;";
  const drawn = `${FROM_EDGE[kind]}
    float away = abs(edge - seamInset), soft = fwidth(edge);
    float seam = (1.0 - smoothstep(seamGroove, seamGroove + 1.5 * soft, away)) * clamp(seamGroove / soft, 0.25, 1.0);
    diffuseColor.rgb *= 1.0 - 0.5 * seam;`;
  shader.fragmentShader = shader.fragmentShader
    .replace("#include <common>", `#include <common>\n${declared}`)
    .replace("#include <color_fragment>", `#include <color_fragment>\n${drawn}`);
}

export const KNOB = 0.23; // how far a port's ball is off its face, in module widths

/** A port: a ring on the face and a ball a little off it, so that it is seen from most sides. */
export function knob(size, low = false) {
  if (low) return shaded(new THREE.OctahedronGeometry(0.14 * size).translate(0, 0, KNOB * size), size);
  const arc = Array.from({ length: 9 }, (_, i) => (Math.PI * (i + 1)) / 10 - Math.PI / 2);
  const ball = arc.map((a) => [0.085 * Math.cos(a), KNOB + 0.085 * Math.sin(a)]);
  // between ring and stem the outline runs below the face
  const ring = [[0.34, 0], [0.34, 0.025], [0.295, 0.025], [0.295, -0.02]];
  const outline = [...ring, [0.02, -0.02], [0.02, 0.14], ...ball, [0, KNOB + 0.085]];
  return shaded(
    new THREE.LatheGeometry(
      outline.map(([x, y]) => new THREE.Vector2(x * size, y * size)),
      40,
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
