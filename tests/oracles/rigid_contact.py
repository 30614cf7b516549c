"""Rigid Coulomb contacts of boxes with the plane z = 0 by Moreau's time stepping (Acary and Brogliato, Numerical methods for
nonsmooth dynamical systems): impulses in cones by projected Gauss-Seidel, no springs, no restitution. Loops are kept by impulses
too. Slow, and shares no line with our contacts.
"""

import numpy as np

from modurob.algorithms.forces import acting
from modurob.motion.gaits.driven import servo_states
from modurob.spatial import so3

NEAR = 2e-3  # points looked at [m]
PULLED = 0.1  # of what is missing is made up for in a step


def corners(m):
    """Bodies, (n,), and corners of all boxes that can touch, in their body's axes, (n, 3)."""
    touching = {row.name.rpartition(" ")[2].split(".")[0] for row in m.contacts}
    boxes = [s for k, s in enumerate(m.collisions or m.shapes) if str(k) in touching]
    signs = np.array(np.meshgrid(*[[-1, 1]] * 3)).reshape(3, -1).T / 2
    points = [signs * s.size @ s.in_body[:3, :3].T + s.in_body[:3, 3] for s in boxes]
    return np.repeat([s.frame.body for s in boxes], 8), np.concatenate(points)


def impulses(W, b, p, friction, sweeps=60):
    """p in cones with W p + b complementary, three rows a point, tangents first."""
    n = len(b) // 3
    stiff = [max(W[3 * i, 3 * i], W[3 * i + 1, 3 * i + 1]) + abs(W[3 * i, 3 * i + 1]) for i in range(n)]
    for _ in range(sweeps):
        before = p.copy()
        for i in range(n):
            t, k = slice(3 * i, 3 * i + 2), 3 * i + 2
            p[k] = max(0.0, p[k] - (b[k] + W[k] @ p) / W[k, k])
            wanted = p[t] - (b[t] + W[t] @ p) / stiff[i]
            p[t] = wanted * min(1.0, friction * p[k] / max(np.hypot(*wanted), 1e-300))
        if np.abs(p - before).max() < 1e-7:
            break
    return p


def looped(m, q, v, inverse, dt):
    """The inverse mass matrix along what loops let move, and v after their impulse, K v = -PULLED error / dt."""
    K = m.loop_jacobian(q)
    push = inverse @ K.T @ np.linalg.pinv(K @ inverse @ K.T, rcond=1e-10)
    return inverse - push @ K @ inverse, v - push @ (K @ v + PULLED * m.loop_error(q) / dt)


def centres(m, q, duration, dt, friction):
    """Centres of mass of a robot with oscillators that starts at rest in q, (steps + 1, 3)."""
    body, points = corners(m)
    x, v, last = acting(m).start_at(q), np.zeros(m.nv), {}
    rows = {row.joint: row.force for row in m.forces if row.force.kind == "oscillator"}
    servo = [(m.joint(name), x[s]) for name, s in servo_states(m).items()]
    at, to = (np.array([getattr(j, k).start for j, _ in servo]) for k in ("v_slice", "q_slice"))
    wave = np.array([w for _, w in servo])
    kp, kd, limit = (np.array([getattr(rows[m.joints.index(j)], k) for j, _ in servo]) for k in ("kp", "kd", "limit"))
    seen = [m.centre_of_mass(q)]
    for step in range(round(duration / dt)):
        t = (step + 1) * dt
        swing, w = wave[:, 1] * min(t, 1.0), 2 * np.pi * wave[:, 2]
        asked = kp * (wave[:, 0] + swing * np.sin(w * t + wave[:, 3]) - q[to])
        asked += kd * (swing * w * np.cos(w * t + wave[:, 3]) - v[at])
        free = np.abs(asked) < limit
        u, M = np.zeros(m.nv), m.mass_matrix(q)
        u[at] = np.clip(asked, -limit, limit) - free * kp * dt * v[at]
        M[at, at] += free * (dt * kd + dt**2 * kp)
        inverse = np.linalg.inv(M)
        v = v + dt * inverse @ (u - m.bias_forces(q, v))
        if m.constraints:
            inverse, v = looped(m, q, v, inverse, dt)
        X = m.forward_kinematics(q).bodies
        height = np.einsum("nj,nj->n", X[body, 2, :3], points) + X[body, 2, 3]
        near = np.flatnonzero(height < NEAR)
        if len(near):
            V = {b: m.body_jacobian(q, m.bodies[b]) for b in set(body[near])}
            J = np.concatenate(
                [
                    X[b, :3, :3] @ (V[b][:3] - so3.skew(c) @ V[b][3:])
                    for b, c in zip(body[near], points[near], strict=True)
                ]
            )
            free_u = J @ v
            free_u[2::3] += np.where(height[near] > 0, 1.0, PULLED) * height[near] / dt
            p = np.concatenate([last.get(i, np.zeros(3)) for i in near])
            p = impulses(J @ inverse @ J.T, free_u, p, friction)
            last = dict(zip(near, p.reshape(-1, 3), strict=True))
            v = v + inverse @ (J.T @ p)
        q = m.integrate(q, dt * v)
        seen.append(m.centre_of_mass(q))
    return np.array(seen)
