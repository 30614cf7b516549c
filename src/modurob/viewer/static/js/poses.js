// Poses as twelve numbers: the first three rows of a 4x4 matrix, row by row.

import * as THREE from "three";

/** out[o...] = A B as a column-major 4x4 matrix for WebGL; A and B are twelve numbers from a and b on. */
export function multiply(out, o, A, a, B, b) {
  for (let column = 0; column < 4; column++) {
    for (let row = 0; row < 3; row++) {
      const r = a + 4 * row;
      let x = A[r] * B[b + column] + A[r + 1] * B[b + 4 + column] + A[r + 2] * B[b + 8 + column];
      if (column === 3) x += A[r + 3];
      out[o + 4 * column + row] = x;
    }
    out[o + 4 * column + 3] = column === 3 ? 1 : 0;
  }
}

/** Twelve numbers as a matrix of three.js. */
export const matrix = (X) => new THREE.Matrix4().set(...X, 0, 0, 0, 1);

export const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0];
