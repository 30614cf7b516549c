// Where a robot touches the ground: forces as arrows, and prints of where it stood; those that slipped in another colour.

import * as THREE from "three";

const COLUMNS = 7; // x, y, z, force x, y, z, speed of slip
const MOST_ARROWS = 256;
const MOST_PRINTS = 1200;
const SLIPS = 0.03; // [m/s]
const LONG = 3; // modules that the arrow of the whole weight is long
const COLOURS = { arrow: 0x16a34a, slips: 0xf97316, print: 0x0f766e };

export class Contacts {
  constructor() {
    this.group = new THREE.Group();
    this.shafts = null;
    this.printed = new Set(); // cells of the ground
  }

  /** For a robot with modules of this size [m] and this weight [N]. */
  setRobot(size, weight) {
    for (const mesh of this.group.children) {
      mesh.geometry.dispose();
      mesh.material.dispose();
      mesh.dispose();
    }
    this.group.clear();
    this.size = size;
    this.scale = (LONG * size) / Math.max(weight, 1e-9);
    const bright = () => new THREE.MeshBasicMaterial();
    const flat = new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.5, depthWrite: false });
    const shaft = new THREE.CylinderGeometry(0.035 * size, 0.035 * size, 1, 8).rotateX(Math.PI / 2).translate(0, 0, 0.5);
    const head = new THREE.ConeGeometry(0.1 * size, 0.24 * size, 12).rotateX(Math.PI / 2);
    this.shafts = new THREE.InstancedMesh(shaft, bright(), MOST_ARROWS);
    this.heads = new THREE.InstancedMesh(head, bright(), MOST_ARROWS);
    this.prints = new THREE.InstancedMesh(new THREE.CircleGeometry(0.1 * size, 16), flat, MOST_PRINTS);
    for (const mesh of [this.shafts, this.heads, this.prints]) mesh.frustumCulled = false;
    this.group.add(this.shafts, this.heads, this.prints);
    this.clear();
  }

  /** Another run: the ground is fresh. */
  clear() {
    this.printed.clear();
    this.steps = 0;
    if (this.shafts) this.shafts.count = this.heads.count = this.prints.count = 0;
  }

  /** What presses now, seven numbers for each point; `slope` of the ground [rad]. */
  set(touching, slope) {
    const count = Math.min(touching.length / COLUMNS, MOST_ARROWS);
    this.shafts.count = this.heads.count = count;
    for (let i = 0; i < count; i++) {
      const [x, y, z, fx, fy, fz, slip] = touching.subarray(COLUMNS * i, COLUMNS * (i + 1));
      this.#arrow(i, new THREE.Vector3(x, y, z), new THREE.Vector3(fx, fy, fz), slip > SLIPS);
      this.#print(x, y, z, slip > SLIPS, slope);
    }
    for (const mesh of [this.shafts, this.heads, this.prints]) {
      mesh.instanceMatrix.needsUpdate = true;
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }

  #arrow(i, at, force, slips) {
    const turn = new THREE.Quaternion().setFromUnitVectors(Z, force.clone().normalize());
    const long = force.length() * this.scale;
    const tip = at.clone().addScaledVector(force, this.scale);
    this.shafts.setMatrixAt(i, new THREE.Matrix4().compose(at, turn, new THREE.Vector3(1, 1, long)));
    this.heads.setMatrixAt(i, new THREE.Matrix4().compose(tip, turn, ONE));
    const colour = new THREE.Color(slips ? COLOURS.slips : COLOURS.arrow);
    this.shafts.setColorAt(i, colour);
    this.heads.setColorAt(i, colour);
  }

  /** A print for each cell of the ground, the oldest are forgotten. */
  #print(x, y, z, slips, slope) {
    const cell = `${Math.round((5 * x) / this.size)} ${Math.round((5 * y) / this.size)} ${slips}`;
    if (this.printed.has(cell)) return;
    this.printed.add(cell);
    const i = this.steps++ % MOST_PRINTS;
    this.prints.count = Math.min(this.steps, MOST_PRINTS);
    const turn = new THREE.Quaternion().setFromAxisAngle(Y, -slope);
    this.prints.setMatrixAt(i, new THREE.Matrix4().compose(new THREE.Vector3(x, y, z + 2e-3 * this.size), turn, ONE));
    this.prints.setColorAt(i, new THREE.Color(slips ? COLOURS.slips : COLOURS.print));
  }
}

const [ONE, Y, Z] = [new THREE.Vector3(1, 1, 1), new THREE.Vector3(0, 1, 0), new THREE.Vector3(0, 0, 1)];
