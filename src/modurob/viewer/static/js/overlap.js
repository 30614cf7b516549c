// Whether boxes overlap: of shapes given as half edges and a matrix, by the axes that could part them.

import * as THREE from "three";

const SLACK = 0.9; // part of a shape that counts: faces that only touch do not overlap

/** A box: its middle, its axes and its half edges along them. */
export function box(half, matrix) {
  const axes = [0, 1, 2].map((k) => new THREE.Vector3().setFromMatrixColumn(matrix, k));
  return { middle: new THREE.Vector3().setFromMatrixPosition(matrix), axes, half: half.map((x) => SLACK * x) };
}

/** Whether no axis parts two boxes. */
export function overlap(a, b) {
  const between = b.middle.clone().sub(a.middle);
  const reach = (one, axis) => one.axes.reduce((sum, own, k) => sum + one.half[k] * Math.abs(own.dot(axis)), 0);
  const crossed = a.axes.flatMap((p) => b.axes.map((q) => new THREE.Vector3().crossVectors(p, q)));
  return [...a.axes, ...b.axes, ...crossed]
    .filter((axis) => axis.lengthSq() > 1e-6)
    .every((axis) => Math.abs(between.dot(axis)) < reach(a, axis) + reach(b, axis));
}
