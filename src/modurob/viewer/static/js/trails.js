// The paths of frames in a run: a line each, strong where the run has been, faint where it will be.

import * as THREE from "three";

const INK = [0xdb2777, 0x2563eb, 0x059669, 0xd97706, 0x7c3aed, 0x0891b2];
const FAINT = 0.28;

export class Trails {
  constructor() {
    this.group = new THREE.Group();
    this.paths = []; // { frame, t, points }
  }

  /** Paths of frames: times `t`, ascending [s], and `points`, three numbers for each [m]. */
  set(paths) {
    for (const line of this.group.children) {
      line.geometry.dispose();
      line.material.dispose();
    }
    this.group.clear();
    this.paths = paths;
    paths.forEach(({ points }, k) => {
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.BufferAttribute(Float32Array.from(points), 3));
      for (const opacity of [FAINT, 1]) this.group.add(this.#line(geometry, INK[k % INK.length], opacity));
    });
  }

  #line(geometry, color, opacity) {
    const line = new THREE.Line(geometry.clone(), new THREE.LineBasicMaterial({ color, opacity, transparent: true, depthTest: false }));
    line.frustumCulled = false;
    line.renderOrder = 2;
    return line;
  }

  /** The run is at this time. */
  at(t) {
    this.paths.forEach(({ t: times }, k) => {
      const passed = times.findLastIndex((x) => x <= t + 1e-6) + 1;
      this.group.children[2 * k + 1].geometry.setDrawRange(0, passed);
    });
  }
}
