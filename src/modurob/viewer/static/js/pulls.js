// What lines pull with: an arrow at each end of a straight piece, along the piece, the longer the tighter the line is.

import * as THREE from "three";

const SHARE = 0.42; // of a piece that an arrow may take, so that those of its two ends do not meet
const THICK = 0.022; // radius of a shaft, in mean lengths of the pieces
const WIDE = 0.2; // diameter of a shaft at most, in sizes of a module
const HEAD = [3, 7]; // radius and length of a head, in radii of a shaft
const LEAST = 0.02; // of the largest tension: less is not drawn
const Z = new THREE.Vector3(0, 0, 1);

export class Pulls {
  constructor() {
    this.group = new THREE.Group();
    this.count = 0; // pieces that pull
  }

  /** For so many pieces of a robot with modules of this size [m]. */
  setRobot(pieces, size) {
    for (const mesh of this.group.children) {
      mesh.geometry.dispose();
      mesh.material.dispose();
      mesh.dispose();
    }
    this.group.clear();
    this.count = 0;
    this.size = size;
    if (!pieces) return;
    const made = (geometry) => {
      const flat = new THREE.MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.9 });
      const mesh = new THREE.InstancedMesh(geometry.rotateX(Math.PI / 2), flat, 2 * pieces);
      mesh.count = 0;
      mesh.frustumCulled = false;
      mesh.renderOrder = 2;
      this.group.add(mesh);
      return mesh;
    };
    this.shafts = made(new THREE.CylinderGeometry(1, 1, 1, 10).translate(0, 0.5, 0));
    this.heads = made(new THREE.ConeGeometry(HEAD[0], HEAD[1], 16).translate(0, -HEAD[1] / 2, 0));
  }

  /** Pieces from a to b in the world, each with the share of the largest tension that its line has, and its colour. */
  set(pieces) {
    const pulling = pieces.filter(({ share }) => share > LEAST);
    this.count = pulling.length;
    if (!this.shafts) return;
    const long = pulling.map(({ a, b }) => a.distanceTo(b));
    const mean = long.reduce((sum, x) => sum + x, 0) / long.length;
    const radius = Math.min(THICK * mean, (WIDE * this.size) / 2);
    // as long as they can be without cutting one short, but on pieces that are much shorter than others
    const most = Math.min(...pulling.map(({ share }, i) => (long[i] > mean / 4 ? (SHARE * long[i]) / share : Infinity)));
    pulling.forEach(({ a, b, share, colour }, i) => {
      const along = new THREE.Vector3().subVectors(b, a).normalize();
      const own = Math.min(most * share, SHARE * long[i]);
      this.#arrow(2 * i, a, along, own, radius, colour);
      this.#arrow(2 * i + 1, b, along.clone().negate(), own, radius, colour);
    });
    for (const mesh of [this.shafts, this.heads]) {
      mesh.count = 2 * this.count;
      mesh.instanceMatrix.needsUpdate = true;
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }

  #arrow(i, from, along, long, radius, colour) {
    const turn = new THREE.Quaternion().setFromUnitVectors(Z, along);
    const tip = from.clone().addScaledVector(along, long);
    // a head is at most half as long as its arrow
    const head = new THREE.Vector3().setScalar(Math.min(radius, long / HEAD[1] / 2));
    const shaft = new THREE.Vector3(radius, radius, Math.max(long - 0.9 * HEAD[1] * radius, long / 2));
    this.shafts.setMatrixAt(i, new THREE.Matrix4().compose(from, turn, shaft));
    this.heads.setMatrixAt(i, new THREE.Matrix4().compose(tip, turn, head));
    for (const mesh of [this.shafts, this.heads]) mesh.setColorAt(i, colour);
  }
}
