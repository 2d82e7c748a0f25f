"""What a compiled CUDA kernel must contain, and the check of PTX and SASS against it.

A compiler may unroll a loop, so each loop body that holds the declared instructions must hold a whole multiple of the
declared count; fewer (folded) or a non-multiple (split) means that the kernel does other work than it declares.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import msgspec

from ert_numba.kernels.spec import CompiledCodeMismatch


class Declared(msgspec.Struct, frozen=True, kw_only=True):
    """``count`` instructions in one pass of the loop body, by a pattern of the instruction's name from its start.

    ``ptx`` is the pattern in PTX, ``sass`` that in SASS (empty: not checked), of which ``sass_per_ptx`` make one PTX
    instruction on the architecture that the recipe is for.
    """

    ptx: str
    count: int
    at_least: int = 1  # in the largest loop, where remainder loops hold less than the main one
    sass: str = ""
    sass_per_ptx: int = 1


def check_ptx(ptx: str, declared: Declared) -> str:
    """Raise :class:`CompiledCodeMismatch` unless the PTX holds a positive multiple of the declared instructions."""
    inside = re.findall(r"^(LOOP_\d+):(.*?)\bbra \1;", ptx, re.MULTILINE | re.DOTALL)  # loops written as assembly
    text = "\n".join(body for _, body in inside) or ptx
    found = len(re.findall(rf"^\s*(?:@!?%?\w+\s+)?{declared.ptx}(?=[\s;])", text, re.MULTILINE))
    if found == 0 or found % declared.count:
        raise CompiledCodeMismatch(f"PTX has {found} of {declared.ptx}, not a multiple of {declared.count}")
    return f"PTX {found} {_plain(declared.ptx)}"


def loop_bodies(sass: str) -> list[Counter[str]]:
    """The opcodes (with their suffixes) of every innermost loop in ``nvdisasm -c`` text."""
    instructions, labels = _instructions(sass)
    loops = []
    for position, text in enumerate(instructions):
        target = re.search(r"\bBRA(?:\.\w+)*\s.*?\(?(\.L_\w+)", text)
        if target and labels.get(target[1], position + 1) < position:
            loops.append((labels[target[1]], position + 1))
    inner = [a for a in loops if not any(a != b and a[0] <= b[0] and b[1] <= a[1] for b in loops)]
    return [Counter(_opcode(text) for text in instructions[start:end]) for start, end in inner]


def opcodes(sass: str) -> list[str]:
    """Every opcode in order."""
    return [_opcode(text) for text in _instructions(sass)[0]]


def _instructions(sass: str) -> tuple[list[str], dict[str, int]]:
    """The instructions in order, and which of them each label stands before."""
    labels: dict[str, int] = {}
    instructions: list[str] = []
    for line in sass.splitlines():
        label = re.match(r"\s*(\.L_\w+):", line)
        if label:
            labels[label[1]] = len(instructions)
        instruction = re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+\{?\s*(.+?)\s*;", line)
        if instruction:
            instructions.append(instruction[1])
    return instructions, labels


def split_functions(sass: str) -> dict[str, str]:
    """The text of each kernel in ``nvdisasm -c`` text, by its name."""
    parts = re.split(r"^\s*\.section\s+\.text\.(\w+),.*$", sass, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def check_sass(sass: str, declared: Declared) -> str:
    """As :func:`check_ptx`, for each innermost loop; spills (LDL, STL) in such a loop are refused too."""
    expected = declared.count * declared.sass_per_ptx
    counts = []
    for body in loop_bodies(sass):
        found = sum(n for opcode, n in body.items() if re.match(declared.sass + r"(\.|$)", opcode))
        if not found:
            continue
        if found % expected:
            raise CompiledCodeMismatch(f"SASS loop has {found} {declared.sass}, not a multiple of {expected}")
        if any(opcode.split(".")[0] in ("LDL", "STL") for opcode in body):
            raise CompiledCodeMismatch(f"SASS loop with {found} {declared.sass} spills registers")
        counts.append(found)
    if max(counts, default=0) < declared.at_least:
        raise CompiledCodeMismatch(f"SASS has no loop with {declared.at_least} {declared.sass}")
    return f"SASS loop {max(counts)} {_plain(declared.sass)} ({max(counts) // expected} x {expected} declared)"


def disassemble(cubin: bytes) -> str | None:
    """SASS by nvdisasm, from its wheel or the PATH; None where there is none that reads the architecture."""
    program = _nvdisasm()
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.cubin")
        path.write_bytes(cubin)
        done = subprocess.run([program, "-c", str(path)], capture_output=True, text=True, check=False)
        return done.stdout if done.returncode == 0 else None


def _nvdisasm() -> str | None:
    import importlib.util

    spec = importlib.util.find_spec("nvidia")
    for root in (spec.submodule_search_locations or []) if spec else []:
        for path in sorted(Path(root).glob("*/bin/nvdisasm")):
            return str(path)
    return shutil.which("nvdisasm")


def _opcode(instruction: str) -> str:
    words = instruction.split()
    return words[1] if words[0].startswith("@") else words[0]


def _plain(pattern: str) -> str:
    return re.sub(r"\\S\+$", "*", pattern).replace("\\", "")
