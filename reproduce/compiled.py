"""The closed form as compiled C: what the thesis could have had of its symbolic equations."""

import ctypes
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from modurob.kernels.compiler import FLAGS, find_compiler
from modurob.spatial.scalars import Array

# vdot = M^-1 (tau - C v - N) by Cholesky, state after state
DRIVER = """
void accelerations(int states, const double *q, const double *v, const double *tau, const double *p, double *x)
{
    for (int k = 0; k < states; k++, q += n, v += n, tau += n, x += n) {
        double M[n][n], C[n][n], N[n];
        NAME(q, v, p, M, C, N);
        for (int i = 0; i < n; i++) {
            x[i] = tau[i] - N[i];
            for (int j = 0; j < n; j++) x[i] -= C[i][j] * v[j];
        }
        for (int j = 0; j < n; j++) {
            for (int i = j; i < n; i++) {
                for (int l = 0; l < j; l++) M[i][j] -= M[i][l] * M[j][l];
                M[i][j] /= i == j ? sqrt(M[j][j]) : M[j][j];
            }
        }
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < i; j++) x[i] -= M[i][j] * x[j];
            x[i] /= M[i][i];
        }
        for (int i = n - 1; i >= 0; i--) {
            for (int j = i + 1; j < n; j++) x[i] -= M[j][i] * x[j];
            x[i] /= M[i][i];
        }
    }
}
"""


class CompiledClosedForm:
    """M, C and N of a robot as compiled C, solved for the accelerations of any number of states."""

    def __init__(self, eq: Any):
        n, compiler = len(eq.q), find_compiler()
        if compiler is None:
            raise OSError("needs a C compiler")
        name = next(line.split("(")[0].split()[-1] for line in eq.c().splitlines() if "_equations(" in line)
        with tempfile.TemporaryDirectory() as folder:
            source, made = Path(folder, "equations.c"), Path(folder, "equations.so")
            source.write_text(f"{eq.c()}\nenum {{ n = {n} }};\n{DRIVER.replace('NAME', name)}", encoding="utf-8")
            command = [*compiler.command, *FLAGS, "-march=native", str(source), "-o", str(made), "-lm"]
            subprocess.run(command, check=True, capture_output=True)
            self._call = ctypes.CDLL(str(made)).accelerations
        self._p = np.array([float(eq.values[p]) for p in eq.parameters])

    def __call__(self, q: Array, v: Array, tau: Array) -> Array:
        given = [np.ascontiguousarray(x, float) for x in np.broadcast_arrays(q, v, tau)]
        out = np.empty(given[0].shape)
        arrays = [ctypes.c_void_p(x.ctypes.data) for x in (*given, self._p, out)]
        self._call(ctypes.c_int(out.size // out.shape[-1]), *arrays)
        return out
