// Lines and springs: thin straight pieces from place to place.

import * as THREE from "three";

const THICK = 0.02; // radius, in sizes of a module
// of lines that pull: from little to the most; and of those that are slack
const LOW = new THREE.Color(0x2f6fb4);
const HIGH = new THREE.Color(0xc8352b);
const SLACK = new THREE.Color(0x9a9a9a);

export class Cables {
  constructor() {
    this.group = new THREE.Group();
    this.pieces = [];
  }

  /** `size` is that of a module. */
  setRobot(cables, size) {
    for (const { geometry, material } of this.group.children) {
      geometry.dispose();
      material.dispose();
    }
    this.group.clear();
    this.pieces = cables.flatMap(({ places, colour, radius, line }) =>
      places.slice(1).map((to, i) => [places[i], to, colour, radius ?? THICK * size, line]),
    );
    if (!this.pieces.length) return;
    const rod = new THREE.CylinderGeometry(1, 1, 1, 12, 1, true);
    this.mesh = new THREE.InstancedMesh(rod, new THREE.MeshStandardMaterial({ roughness: 0.7 }), this.pieces.length);
    this.pieces.forEach(([, , colour], i) => this.mesh.setColorAt(i, new THREE.Color(colour)));
    this.mesh.castShadow = true;
    this.mesh.frustumCulled = false;
    this.group.add(this.mesh);
  }

  /** Colours of the lines, by what each pulls with [N]. */
  setTensions(tensions) {
    const most = Math.max(...tensions, 1e-12);
    this.pieces.forEach(([, , , , line], i) => {
      if (line === undefined) return;
      this.mesh.setColorAt(i, tensions[line] ? LOW.clone().lerp(HIGH, tensions[line] / most) : SLACK);
    });
    if (this.pieces.length) this.mesh.instanceColor.needsUpdate = true;
  }

  setPoses(poses) {
    const along = new THREE.Vector3();
    this.pieces.forEach(([from, to, , radius], i) => {
      const [a, b] = [inWorld(poses, from), inWorld(poses, to)];
      const length = along.subVectors(b, a).length();
      const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 1, 0), along.normalize());
      const middle = a.add(b).multiplyScalar(0.5);
      this.mesh.setMatrixAt(i, new THREE.Matrix4().compose(middle, turn, new THREE.Vector3(radius, length, radius)));
    });
    if (this.pieces.length) this.mesh.instanceMatrix.needsUpdate = true;
  }
}

/** Where the pieces begin and end in the world, as x, y, z, x, y, z, ... */
export const ends = ({ pieces }, poses) =>
  pieces.flatMap(([from, to]) => [...inWorld(poses, from).toArray(), ...inWorld(poses, to).toArray()]);

function inWorld(poses, { body, at }) {
  const row = (r) => {
    const o = 12 * body + 4 * r;
    return poses[o] * at[0] + poses[o + 1] * at[1] + poses[o + 2] * at[2] + poses[o + 3];
  };
  return new THREE.Vector3(row(0), row(1), row(2));
}
