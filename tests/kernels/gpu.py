"""Plays a GPU: the text of kernels, compiled for the CPU, block after block, with real threads in each."""

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

BEFORE = """
#include <cmath>
#include <barrier>
#include <memory>
#include <thread>
#include <vector>
#define __device__
#define __global__
#define __shared__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __restrict__ __restrict
struct dimension { int x; };
static thread_local dimension threadIdx, blockIdx;
static dimension blockDim, gridDim;
static std::unique_ptr<std::barrier<>> fence;
static inline void __syncthreads() { fence->arrive_and_wait(); }
static inline unsigned atomicInc(unsigned *x, unsigned most) { const unsigned old = *x; *x = old < most ? old + 1 : 0; return old; }
using std::sqrt; using std::exp; using std::log; using std::tanh; using std::rint; using std::atan2;
"""
AFTER = """
alignas(64) real memory[1 << 17];
extern "C" void launch(int blocks, int threads, long shared, const robot *robots, int *tasks, int count, int words,
    real *work)
{
    blockDim.x = threads, gridDim.x = blocks;
    for (int b = 0; b < blocks; ++b) {
        for (long i = 0; i < shared / (long)sizeof(real); ++i) { memory[i] = NAN; }
        fence = std::make_unique<std::barrier<>>(threads);
        std::vector<std::thread> all;
        for (int t = 0; t < threads; ++t) {
            all.emplace_back([=] {
                threadIdx.x = t, blockIdx.x = b;
                walk(robots, tasks, count, words, work);
                fence->arrive_and_drop();
            });
        }
        for (auto &one : all) { one.join(); }
    }
}
"""


class PlayedGpu:
    """Two processors, and a little shared memory."""

    processors, shared_bytes, name, kind = 2, 1 << 19, "played", 1

    def __init__(self, folder: Path):
        self.folder, self.compiled = folder, 0

    def array(self, x: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(x)

    def adopted(self, x: Any) -> np.ndarray:
        return np.from_dlpack(x)

    def host(self, x: np.ndarray) -> np.ndarray:
        return x

    def empty(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        # poisoned: what is not written stands out
        return np.full(shape, np.nan, dtype)

    def address(self, x: np.ndarray) -> int:
        return x.ctypes.data

    def kernel(self, text: str) -> Callable[..., None]:
        self.compiled += 1
        source, made = self.folder / f"kernel{self.compiled}.cpp", self.folder / f"kernel{self.compiled}.so"
        source.write_text(BEFORE + text + AFTER)
        flags = ["-std=c++20", "-O0", "-Wall", "-Werror", "-Wno-unused", "-fPIC", "-shared", "-pthread"]
        subprocess.run([shutil.which("g++") or "c++", *flags, str(source), "-o", str(made)], check=True)
        function = ctypes.CDLL(str(made)).launch
        pointer, integer = ctypes.c_void_p, ctypes.c_int
        function.argtypes = [integer, integer, ctypes.c_long, pointer, pointer, integer, integer, pointer]

        def launch(blocks: int, threads: int, shared: int, arguments: tuple[Any, ...]) -> None:
            robots, tasks, count, words, work = arguments
            where = (x.ctypes.data for x in (robots, tasks))
            function(blocks, threads, shared, *where, count, words, work.ctypes.data)

        return launch
