"""PTX text as functions that a ``numba.cuda`` kernel can call.

numba names few of the instructions that decide a ceiling (16-byte loads with a cache operator, ``mma``, ``wgmma``), so
each becomes an ``intrinsic`` around one block of inline assembly. Only scalars pass in and out: whole loops with all
their registers stay inside one block, where neither LLVM nor numba can reorder, fold or spill them.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any

_CONSTRAINTS = {
    "int32": "r",
    "uint32": "r",
    "int64": "l",
    "uint64": "l",
    "float32": "f",
    "float64": "d",
}


def asm_operation(text: str, result: str | None, arguments: tuple[str, ...]) -> Callable[..., Any]:
    """An intrinsic that emits ``text``: operand ``$0`` is the result (where there is one), then the arguments.

    Types are numba's names ("uint32", "float64"); values convert to them as in a call. The block counts as having side
    effects, so it is neither moved nor dropped. Write labels and registers inside ``{ }``, labels with ``${:uid}``.
    """
    from llvmlite import ir
    from numba.core import types
    from numba.cuda.extending import intrinsic

    argument_types = tuple(getattr(types, name) for name in arguments)
    result_type = types.none if result is None else getattr(types, result)
    letters = ([] if result is None else ["=" + _CONSTRAINTS[result]]) + [_CONSTRAINTS[name] for name in arguments]

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kinds = [context.get_value_type(kind) for kind in signature.args]
        returned = ir.VoidType() if result is None else context.get_value_type(signature.return_type)
        block = ir.InlineAsm(ir.FunctionType(returned, kinds), text, ",".join(letters), side_effect=True)
        value = builder.call(block, values)
        return context.get_dummy_value() if result is None else value

    def operation(typing_context, *values):  # type: ignore[no-untyped-def]
        return result_type(*argument_types), generate

    # numba binds an intrinsic's parameters by name and lowers a real *values as one tuple.
    names = ["typing_context", *(f"value_{k}" for k in range(len(arguments)))]
    operation.__signature__ = Signature([Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names])  # type: ignore[attr-defined]
    return intrinsic(operation)
