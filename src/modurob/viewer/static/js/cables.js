// Lines and springs: thin straight pieces from place to place, with arrows for what lines pull with.

import * as THREE from "three";
import { Pulls } from "./pulls.js";

const THICK = 0.02; // radius, in sizes of a module
// of lines that pull: from little to the most; and of those that are slack
const LOW = new THREE.Color(0x2f6fb4);
const HIGH = new THREE.Color(0xc8352b);
const SLACK = new THREE.Color(0x9a9a9a);

export class Cables {
  constructor() {
    this.group = new THREE.Group();
    this.rods = new THREE.Group();
    this.pulls = new Pulls();
    this.group.add(this.rods, this.pulls.group);
    this.pieces = [];
    this.tensions = []; // [N], by line
  }

  /** `size` is that of a module. */
  setRobot(cables, size) {
    for (const { geometry, material } of this.rods.children) {
      geometry.dispose();
      material.dispose();
    }
    this.rods.clear();
    this.tensions = [];
    this.pieces = cables.flatMap(({ places, colour, radius, line }) =>
      places.slice(1).map((to, i) => [places[i], to, colour, radius ?? THICK * size, line]),
    );
    this.pulls.setRobot(this.pieces.filter(([, , , , line]) => line !== undefined).length, size);
    if (!this.pieces.length) return;
    const rod = new THREE.CylinderGeometry(1, 1, 1, 12, 1, true);
    this.mesh = new THREE.InstancedMesh(rod, new THREE.MeshStandardMaterial({ roughness: 0.7 }), this.pieces.length);
    this.pieces.forEach(([, , colour], i) => this.mesh.setColorAt(i, new THREE.Color(colour)));
    this.mesh.castShadow = true;
    this.mesh.frustumCulled = false;
    this.rods.add(this.mesh);
  }

  /** Colours and arrows of the lines, by what each pulls with [N]; arrows are drawn with the poses. */
  setTensions(tensions) {
    this.tensions = tensions;
    this.pieces.forEach(([, , , , line], i) => {
      if (line !== undefined) this.mesh.setColorAt(i, this.#colour(line));
    });
    if (this.pieces.length) this.mesh.instanceColor.needsUpdate = true;
  }

  /** Of the largest tension, from 0 to 1. */
  #share(line) {
    return (this.tensions[line] ?? 0) / Math.max(...this.tensions, 1e-12);
  }

  #colour(line) {
    return this.tensions[line] ? LOW.clone().lerp(HIGH, this.#share(line)) : SLACK;
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
    this.#pull(poses);
  }

  #pull(poses) {
    const lines = this.pieces.filter(([, , , , line]) => line !== undefined);
    this.pulls.set(
      lines.map(([from, to, , , line]) => ({
        a: inWorld(poses, from),
        b: inWorld(poses, to),
        share: this.#share(line),
        colour: this.#colour(line),
      })),
    );
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
