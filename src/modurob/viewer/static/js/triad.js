// The axes of the world in a corner of the view: they turn with it, and a click on one looks along it.

import * as THREE from "three";

const REACH = 30; // pixels from the middle to the end of an axis
// direction to the camera, label, name of the view
const SIDES = [
  [[1, 0, 0], "x", "from the right"],
  [[0, 1, 0], "y", "from behind"],
  [[0, 0, 1], "z", "from above"],
  [[-1, 0, 0], "", "from the left"],
  [[0, -1, 0], "", "from the front"],
  [[0, 0, -1], "", "from below"],
];
export const STANDARD = [0.55, -0.8, 0.75];

/** Buttons in `box`, and what puts them in their places after the view was turned. */
export function makeTriad(box, view) {
  const ends = SIDES.map(([side, label, name], i) => {
    const button = document.createElement("button");
    button.className = `axis ${"xyz"[i % 3]}${label ? "" : " back"}`;
    button.textContent = label;
    button.title = `Look ${name}`;
    button.setAttribute("aria-label", button.title);
    button.onclick = () => view.lookFrom(side);
    return button;
  });
  const sticks = ["x", "y", "z"].map((axis) => Object.assign(document.createElement("i"), { className: axis }));
  box.replaceChildren(...sticks, ...ends);
  return () => {
    const turn = new THREE.Quaternion().copy(view.camera.lens.quaternion).invert();
    SIDES.forEach(([side], i) => {
      const { x, y, z } = new THREE.Vector3(...side).applyQuaternion(turn);
      Object.assign(ends[i].style, { left: `${REACH * x}px`, top: `${-REACH * y}px`, zIndex: String(Math.round(10 + 9 * z)) });
      if (i < 3) sticks[i].style.transform = `rotate(${Math.atan2(-y, x)}rad) scaleX(${REACH * Math.hypot(x, y)})`;
    });
  };
}
