// What the drives give: arcs about the axes of turns, arrows along slides, the larger the more of its limit a drive gives.

import * as THREE from "three";
import { matrix } from "./poses.js";

const COLOUR = 0xdb2777;
const ARC = 1.5 * Math.PI;
const LEAST = 0.02; // of a limit: less is not drawn
const NO_LIMIT = 1e4; // stands for none
const Z = new THREE.Vector3(0, 0, 1);

export class Torques {
  constructor() {
    this.group = new THREE.Group();
    this.joints = [];
  }

  /** For a robot with modules of this size [m]; `joints` have a body, an axis there, and a place among the rates. */
  setRobot(joints, size) {
    for (const mesh of this.group.children) {
      mesh.geometry.dispose();
      mesh.dispose();
    }
    this.group.clear();
    this.joints = (joints ?? []).filter(({ axis }) => axis);
    this.largest = 0;
    const material = new THREE.MeshBasicMaterial({ color: COLOUR, depthTest: false, transparent: true, opacity: 0.85 });
    const made = (geometry) => {
      const mesh = new THREE.InstancedMesh(geometry, material, Math.max(1, this.joints.length));
      mesh.count = 0;
      mesh.frustumCulled = false;
      mesh.renderOrder = 2;
      this.group.add(mesh);
      return mesh;
    };
    const r = 0.95 * size;
    this.arcs = made(new THREE.TorusGeometry(r, 0.09 * size, 8, 28, ARC));
    // the tip is where the arc ends, along its tangent
    this.tips = made(new THREE.ConeGeometry(0.24 * size, 0.5 * size, 10).rotateZ(-Math.PI / 2).translate(0.15 * size, -r, 0));
    this.shafts = made(new THREE.CylinderGeometry(0.05 * size, 0.05 * size, size, 8).rotateX(Math.PI / 2).translate(0, 0, size / 2));
    this.heads = made(new THREE.ConeGeometry(0.15 * size, 0.32 * size, 10).rotateX(Math.PI / 2).translate(0, 0, size));
  }

  /** Draw the torques or forces `tau` [N m or N] of all rates on a robot with these poses of its bodies; none where there are none. */
  set(poses, tau) {
    const count = { turns: 0, slides: 0 };
    for (const { body, axis, turns, effort, v } of this.joints) {
      const x = tau?.[v[0]] ?? 0;
      this.largest = Math.max(this.largest, Math.abs(x));
      const share = Math.min(1, Math.abs(x) / (effort[0] > 0 && effort[0] < NO_LIMIT ? effort[0] : this.largest || 1));
      if (!(share > LEAST)) continue;
      const along = new THREE.Vector3(...axis).multiplyScalar(Math.sign(x));
      const own = new THREE.Matrix4().makeRotationFromQuaternion(new THREE.Quaternion().setFromUnitVectors(Z, along));
      const placed = matrix([...poses.slice(12 * body, 12 * body + 12)]).multiply(own).scale(new THREE.Vector3().setScalar(0.5 + 0.5 * share));
      const i = turns ? count.turns++ : count.slides++;
      for (const mesh of turns ? [this.arcs, this.tips] : [this.shafts, this.heads]) mesh.setMatrixAt(i, placed);
    }
    for (const [meshes, n] of [[[this.arcs, this.tips], count.turns], [[this.shafts, this.heads], count.slides]])
      for (const mesh of meshes) {
        mesh.count = n;
        mesh.instanceMatrix.needsUpdate = true;
      }
  }
}
