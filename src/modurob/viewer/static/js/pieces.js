// Shapes and ports as instances: one mesh for each kind and size, moved by the poses of their bodies.

import * as THREE from "three";
import { multiply } from "./poses.js";
import { geometryOf, knob, material } from "./shapes.js";

/** Shapes of one kind and size together. */
export function alike(shapes) {
  const found = new Map();
  for (const shape of shapes) {
    const key = `${shape.kind} ${shape.mesh ?? ""} ${shape.size}`;
    if (!found.has(key)) found.set(key, []);
    found.get(key).push(shape);
  }
  return [...found.values()];
}

/** A mesh of shapes that are alike; `meshes` are triangles by name. */
export function instanced(shapes, meshes, low) {
  const shape = { ...shapes[0], mesh: meshes?.[shapes[0].mesh] };
  const mesh = new THREE.InstancedMesh(geometryOf(shape, low), material(shape, low), shapes.length);
  mesh.castShadow = mesh.receiveShadow = true;
  mesh.frustumCulled = false;
  mesh.userData.shapes = shapes;
  return mesh;
}

/** Rings at free ports of modules of this size. */
export function rings(free, size, low) {
  const mesh = new THREE.InstancedMesh(
    knob(size, low),
    new THREE.MeshBasicMaterial({ vertexColors: true }),
    Math.max(1, free.length),
  );
  mesh.count = free.length;
  mesh.frustumCulled = false;
  return mesh;
}

/** Each instance where its body is; `things` have a body, and a pose X on it. */
export function placeAll(mesh, things, poses) {
  const out = mesh.instanceMatrix.array;
  for (let i = 0; i < things.length; i++) multiply(out, 16 * i, poses, 12 * things[i].body, things[i].X, 0);
  mesh.instanceMatrix.needsUpdate = true;
  mesh.boundingSphere = null;
}

export function discard(mesh) {
  mesh.geometry.dispose();
  mesh.dispose();
}
