// What draws: WebGL; or nothing, where there is none or none is wanted, and all that does not look at pictures still works.

import * as THREE from "three";
import { undrawn } from "./detail.js";

/** A renderer on a canvas; `blind` ones draw nothing. */
export function makeRenderer(canvas, low) {
  if (undrawn()) return new Blind();
  try {
    return new THREE.WebGLRenderer({ canvas, antialias: !low, alpha: true });
  } catch {
    return new Blind();
  }
}

/** Takes what a renderer of three.js is told, and keeps what is placed up to date, so that it can be pointed at. */
class Blind {
  blind = true;
  shadowMap = {};
  #ratio = 1;

  render(scene, lens) {
    scene.updateMatrixWorld();
    lens.updateMatrixWorld();
  }

  setPixelRatio(ratio) {
    this.#ratio = ratio;
  }

  getPixelRatio() {
    return this.#ratio;
  }

  setSize() {}

  dispose() {}
}
