"""Arrays of other libraries in and out: by DLPack, without a copy where they are on the device already."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from modurob.errors import InputError

FLOATS = ("float32", "float64")


def is_foreign(x: Any) -> bool:
    """Whether an array is of another library than NumPy, on a device perhaps."""
    return hasattr(x, "__dlpack__") and not isinstance(x, np.ndarray)


def on_device(device: Any, x: Any) -> Any:
    """An array of NumPy, CuPy, JAX or PyTorch as one of the device; None for anything else."""
    if isinstance(x, np.ndarray):
        return device.array(x) if x.dtype.name in FLOATS else None
    return _adopted(device, x) if is_foreign(x) else None


def on_host(device: Any, x: Any) -> Any:
    """An array of another library as one of NumPy; anything else as it is."""
    return device.host(_adopted(device, x)) if is_foreign(x) else x


def _adopted(device: Any, x: Any) -> Any:
    kind = int(x.__dlpack_device__()[0])
    if kind != device.kind:
        raise InputError(
            f"an array of {type(x).__module__} on another device (DLPack's kind {kind}): expected one on the GPU (kind "
            f"{device.kind}), or a NumPy array"
        )
    return device.adopted(x)


def pattern(arrays: Sequence[Any]) -> Any:
    """The argument whose library results are given in: the first that is not NumPy's, if there is one."""
    return next((x for x in arrays if is_foreign(x)), arrays[0])


def given_back(device: Any, result: Any, like: Any) -> Any:
    """A result as an array of the library that the argument came from."""
    library = type(like).__module__.partition(".")[0]
    if isinstance(like, np.ndarray):
        return device.host(result)
    if library == "torch":
        return import_module("torch").from_dlpack(result)
    if library not in ("jax", "jaxlib"):
        return result
    return import_module("jax.dlpack").from_dlpack(result if result.flags.c_contiguous else result.copy())


def empty_like(device: Any, x: Any, entries: int) -> Any:
    """An array (states, entries) laid out as x is: entry by entry, or state by state."""
    states = x.shape[0]
    if x.strides[0] < x.strides[1]:
        return device.empty((entries, states), x.dtype).T
    return device.empty((states, entries), x.dtype)


def strides_of(x: Any) -> tuple[int, ...]:
    """Strides in entries."""
    return tuple(s // x.itemsize for s in x.strides)
