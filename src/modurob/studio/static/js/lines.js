// Cables and springs, in the colours of their tensions: blue where little, red where most; grey where slack.

import * as THREE from "three";

const LOW = new THREE.Color(0x2f6fb4);
const HIGH = new THREE.Color(0xc8352b);
const SLACK = new THREE.Color(0x9a9a9a);

export class Lines {
  constructor() {
    this.group = new THREE.Group();
  }

  clear() {
    for (const line of this.group.children) {
      line.geometry.dispose();
      line.material.dispose();
    }
    this.group.clear();
  }

  /** Corners of each line, x, y, z one after the other, and what each pulls with [N]. */
  show(paths, tensions) {
    this.clear();
    const most = Math.max(...tensions, 1e-12);
    paths.forEach((corners, i) => {
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.Float32BufferAttribute(corners, 3));
      const color = tensions[i] ? LOW.clone().lerp(HIGH, tensions[i] / most) : SLACK;
      this.group.add(new THREE.Line(geometry, new THREE.LineBasicMaterial({ color, linewidth: 2 })));
    });
  }
}
