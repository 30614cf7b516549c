// What virtual joints slide along or turn about: a rail with a carriage, a turntable with a mark; they stand on the body before the joint.

import * as THREE from "three";
import { matrix } from "./poses.js";

const COLOURS = { stands: 0x64748b, moves: 0xd97706 };
const REACH = 1.7; // of a rail from its middle, and beyond its carriage: in sizes of a module
const RADIUS = 0.95; // of a turntable
const Y = new THREE.Vector3(0, 1, 0);

export class Guides {
  constructor() {
    this.group = new THREE.Group();
    this.guides = [];
  }

  /** For modules of this size [m]; guides have a body, the `parent` they stand on, their pose X there, an axis, and may turn. */
  setRobot(guides, size) {
    for (const { geometry, material } of this.group.children) {
      geometry.dispose();
      material.dispose();
    }
    this.group.clear();
    this.size = size;
    this.guides = guides.map((guide) => ({ ...guide, ...(guide.turns ? this.#turntable() : this.#rail()) }));
  }

  #part(geometry, colour) {
    const mesh = new THREE.Mesh(geometry, new THREE.MeshStandardMaterial({ color: colour, roughness: 0.6 }));
    mesh.matrixAutoUpdate = false;
    mesh.castShadow = true;
    this.group.add(mesh);
    return mesh;
  }

  #rail() {
    const s = this.size;
    return {
      stands: this.#part(new THREE.BoxGeometry(0.16 * s, 1, 0.16 * s), COLOURS.stands),
      moves: this.#part(new THREE.BoxGeometry(0.3 * s, 1.2 * s, 0.3 * s), COLOURS.moves),
    };
  }

  #turntable() {
    const [s, r] = [this.size, RADIUS * this.size];
    return {
      stands: this.#part(new THREE.TorusGeometry(r, 0.06 * s, 10, 48).rotateX(Math.PI / 2), COLOURS.stands),
      moves: this.#part(new THREE.SphereGeometry(0.13 * s, 16, 12).translate(r, 0, 0), COLOURS.moves),
    };
  }

  setPoses(poses) {
    for (const guide of this.guides) {
      const own = new THREE.Matrix4().makeRotationFromQuaternion(
        new THREE.Quaternion().setFromUnitVectors(Y, new THREE.Vector3(...guide.axis)),
      );
      guide.stands.matrix.copy(seat(poses, guide)).multiply(own);
      guide.moves.matrix.copy(of(poses, guide.body)).multiply(own);
      if (!guide.turns) stretch(guide.stands.matrix, this.#ends(poses, guide));
      for (const mesh of [guide.stands, guide.moves]) mesh.matrixWorldNeedsUpdate = true;
    }
  }

  /** From where to where a rail goes along its axis: about its middle, and farther than its carriage has gone. */
  #ends(poses, guide) {
    const from = seat(poses, guide).invert();
    const gone = new THREE.Vector3().setFromMatrixPosition(of(poses, guide.body)).applyMatrix4(from);
    const at = gone.dot(new THREE.Vector3(...guide.axis));
    const far = REACH * this.size;
    return [Math.min(0, at) - far, Math.max(0, at) + far];
  }

  /** Where rails end and how far turntables reach, as x, y, z, x, y, z, ... in the world. */
  points(poses) {
    return this.guides.flatMap((guide) => {
      const axis = new THREE.Vector3(...guide.axis);
      const turn = new THREE.Quaternion().setFromUnitVectors(Y, axis);
      const r = RADIUS * this.size;
      const ends = guide.turns
        ? [[r, 0], [-r, 0], [0, r], [0, -r]].map(([x, z]) => new THREE.Vector3(x, 0, z).applyQuaternion(turn))
        : this.#ends(poses, guide).map((at) => axis.clone().multiplyScalar(at));
      return ends.flatMap((end) => end.applyMatrix4(seat(poses, guide)).toArray());
    });
  }
}

const of = (poses, body) => matrix([...poses.slice(12 * body, 12 * body + 12)]);
const seat = (poses, { parent, X }) => of(poses, parent).multiply(matrix(X));

/** A thing one long in y, laid from one end to the other. */
function stretch(placed, [low, high]) {
  placed.multiply(new THREE.Matrix4().makeTranslation(0, (low + high) / 2, 0));
  placed.multiply(new THREE.Matrix4().makeScale(1, high - low, 1));
}
