"""Planar four-bar with ground pivots A = (0, 0) and D = (d, 0), crank a, coupler b, rocker c; gravity along -y.

Each link is a rod with its mass in the middle. One degree of freedom, the crank angle: I(t) tdd + I'(t) td^2 / 2 + V'(t) = tau.
"""

from dataclasses import dataclass

import numpy as np

STEP = 1e-20


@dataclass(frozen=True)
class FourBar:
    a: float = 0.4
    b: float = 0.9
    c: float = 0.8
    d: float = 1.0
    masses: tuple[float, float, float] = (1.0, 1.5, 1.2)
    g: float = 9.81

    def angles(self, t):
        """Absolute angles of coupler and rocker (open branch) for crank angle t, from the circle of B about A and of C about D."""
        x, y = self.d - self.a * np.cos(t), -self.a * np.sin(t)
        r = np.sqrt(x * x + y * y)
        along = (r * r + self.b**2 - self.c**2) / (2 * r)
        up = np.sqrt(self.b**2 - along**2)
        cx, cy = (along * x - up * y) / r, (along * y + up * x) / r
        rocker_x, rocker_y = cx - x, cy - y
        return self._angle(cy, cx), self._angle(rocker_y, rocker_x)

    @staticmethod
    def _angle(y, x):
        """atan2 to first order in imaginary parts."""
        if not np.iscomplexobj(y):
            return np.arctan2(y, x)
        return np.arctan2(y.real, x.real) + 1j * (x.real * y.imag - y.real * x.imag) / (x.real**2 + y.real**2)

    def rates(self, t):
        """d(coupler, rocker)/dt, from the velocity of C along both ways round."""
        p, r = self.angles(t)
        A = np.array([[-self.b * np.sin(p), self.c * np.sin(r)], [self.b * np.cos(p), -self.c * np.cos(r)]])
        return np.linalg.solve(A, np.array([self.a * np.sin(t), -self.a * np.cos(t)]))

    def inertia(self, t):
        """Effective inertia: twice the kinetic energy at td = 1."""
        (p, _), (pd, rd) = self.angles(t), self.rates(t)
        vx = -self.a * np.sin(t) - self.b / 2 * np.sin(p) * pd
        vy = self.a * np.cos(t) + self.b / 2 * np.cos(p) * pd
        rods = [m * length**2 for m, length in zip(self.masses, (self.a, self.b, self.c), strict=True)]
        return rods[0] / 3 + self.masses[1] * (vx * vx + vy * vy) + rods[1] / 12 * pd * pd + rods[2] / 3 * rd * rd

    def potential(self, t):
        p, r = self.angles(t)
        heights = self.a / 2 * np.sin(t), self.a * np.sin(t) + self.b / 2 * np.sin(p), self.c / 2 * np.sin(r)
        return self.g * sum(m * h for m, h in zip(self.masses, heights, strict=True))

    def acceleration(self, t, td, tau):
        inertia, potential = self.inertia(t + 1j * STEP), self.potential(t + 1j * STEP)
        slope, force = inertia.imag / STEP, potential.imag / STEP
        return (tau - slope * td**2 / 2 - force) / inertia.real

    def energy(self, t, td):
        return self.inertia(t) * td**2 / 2 + self.potential(t)
