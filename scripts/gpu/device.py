# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Name the GPU and its driver; any Python will do. The driver is asked, not nvidia-smi: a container may have one
without the other."""

import ctypes

try:
    driver = ctypes.CDLL("libcuda.so.1")
except OSError as error:
    raise SystemExit(f"no NVIDIA driver ({error})") from None
count, version = ctypes.c_int(0), ctypes.c_int(0)
result = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
if result or not count.value:
    raise SystemExit(f"the NVIDIA driver finds no GPU (CUDA error {result})")
name, device = ctypes.create_string_buffer(256), ctypes.c_int(0)
MULTIPROCESSORS, MAJOR, MINOR = 16, 75, 76  # attributes
driver.cuDeviceGet(ctypes.byref(device), 0)
driver.cuDeviceGetName(name, 256, device)
driver.cuDriverGetVersion(ctypes.byref(version))


def attribute(number: int) -> int:
    """An attribute of the device."""
    value = ctypes.c_int(0)
    driver.cuDeviceGetAttribute(ctypes.byref(value), number, device)
    return value.value


print(
    f"{name.value.decode()}, sm_{attribute(MAJOR)}{attribute(MINOR)}, {attribute(MULTIPROCESSORS)} multiprocessors, "
    f"driver for CUDA {version.value // 1000}.{version.value % 1000 // 10}"
)
