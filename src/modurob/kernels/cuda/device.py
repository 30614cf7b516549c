"""A GPU of NVIDIA, through CuPy and its NVRTC."""

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from modurob.spatial.scalars import Array


class CudaDevice:
    """The current GPU."""

    kind = 2  # of its arrays, as DLPack counts

    def __init__(self, cupy: Any):
        self.cupy = cupy
        found = cupy.cuda.Device().attributes
        self.processors = int(found["MultiProcessorCount"])
        self.shared_bytes = int(found["MaxSharedMemoryPerBlockOptin"])
        self.name = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"].decode()

    def array(self, x: Array) -> Any:
        return self.cupy.asarray(x)

    def adopted(self, x: Any) -> Any:
        return self.cupy.from_dlpack(x)

    def host(self, x: Any) -> Array:
        return self.cupy.asnumpy(x)

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        return self.cupy.empty(shape, dtype)

    def address(self, x: Any) -> int:
        return x.data.ptr

    def kernel(self, text: str) -> Callable[..., None]:
        function = self.cupy.RawModule(
            code=text, options=("--std=c++17", "--device-as-default-execution-space")
        ).get_function("walk")

        def launch(blocks: int, threads: int, shared: int, arguments: tuple[Any, ...]) -> None:
            if shared > function.max_dynamic_shared_size_bytes:
                function.max_dynamic_shared_size_bytes = shared
            robots, tasks, count, words, work = arguments
            given = robots, tasks, np.int32(count), np.int32(words), work
            function((blocks,), (threads,), given, shared_mem=shared)

        launch.function = function  # type: ignore[attr-defined]
        return launch


@cache
def cuda_device() -> CudaDevice | str:
    """The GPU, or why there is none."""
    try:
        cupy = importlib.import_module("cupy")
        return CudaDevice(cupy) if cupy.cuda.runtime.getDeviceCount() else "no GPU found"
    except ImportError:
        return "no CuPy: pip install modurob[gpu]"
    except Exception as error:  # whatever the driver says
        return f"no GPU: {error}"
