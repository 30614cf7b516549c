// Where things end, in the world: corners of instanced shapes and tips of ports, as x, y, z, x, y, z, ...

const CORNERS = [-1, 1].flatMap((x) => [-1, 1].flatMap((y) => [-1, 1].map((z) => [x, y, z])));

/** Half the edges of the box around a shape. */
export function reach({ kind, size }) {
  if (kind === "box" || kind === "mesh") return size.map((edge) => edge / 2);
  return kind === "cylinder" ? [size[0], size[0], size[1] / 2] : [size[0], size[0], size[0]];
}

/** How broad a shape is: between its longest edge and the next one, so that a long rod is not taken for a large module. */
export function breadth(shape) {
  const [longest, next] = reach(shape).sort((a, b) => b - a);
  return 2 * Math.sqrt(longest * next);
}

/** A point given in the frame of an instance. */
function add(points, { instanceMatrix: { array: m } }, i, x, y, z) {
  const o = 16 * i;
  for (let row = 0; row < 3; row++)
    points.push(m[o + row] * x + m[o + 4 + row] * y + m[o + 8 + row] * z + m[o + 12 + row]);
}

/** The corners of the boxes around the shapes of a mesh. */
export function corners(mesh) {
  const points = [];
  const [x, y, z] = reach(mesh.userData.shapes[0]);
  for (let i = 0; i < mesh.count; i++) for (const [a, b, c] of CORNERS) add(points, mesh, i, a * x, b * y, c * z);
  return points;
}

/** Points so far along the z axis of each instance. */
export function tips(mesh, far) {
  const points = [];
  for (let i = 0; i < mesh.count; i++) add(points, mesh, i, 0, 0, far);
  return points;
}
