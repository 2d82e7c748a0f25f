"""Every number format that a kernel may compute in, one row each.

To add a precision, add a row: the axes, the choices of the command line, the colours and the tests
derive from this table. A row says what the format *is*; whether a device has it is the kernel's
``supports``.
"""

from __future__ import annotations

import msgspec


class Precision(msgspec.Struct, frozen=True, kw_only=True):
    """One number format.

    ``operation`` is the word for its unit of work: an integer multiply-add is two operations, not two FLOP.
    ``relative_tolerance`` bounds a kernel's result against its gold value: a few hundred units in the last
    place, since each result is a sum over chains.
    """

    key: str
    label: str
    bits: int
    operation: str = "FLOP"
    relative_tolerance: float

    @property
    def bytes(self) -> float:
        return self.bits / 8


PRECISIONS: tuple[Precision, ...] = (
    Precision(key="fp64", label="FP64", bits=64, relative_tolerance=1e-9),
    Precision(key="fp32", label="FP32", bits=32, relative_tolerance=1e-3),
    Precision(key="tf32", label="TF32", bits=32, relative_tolerance=1e-2),
    Precision(key="fp16", label="FP16", bits=16, relative_tolerance=5e-2),
    Precision(key="bf16", label="BF16", bits=16, relative_tolerance=1e-1),
    Precision(key="fp8_e4m3", label="FP8 e4m3", bits=8, relative_tolerance=2e-1),
    Precision(key="fp8_e5m2", label="FP8 e5m2", bits=8, relative_tolerance=2e-1),
    Precision(key="int32", label="INT32", bits=32, operation="OP", relative_tolerance=0.0),
    Precision(key="int8", label="INT8", bits=8, operation="OP", relative_tolerance=0.0),
)

BY_KEY: dict[str, Precision] = {row.key: row for row in PRECISIONS}
