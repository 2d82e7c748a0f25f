"""The only code that computes on a device: numba kernels, inline PTX, ctypes calls of vendor libraries."""
