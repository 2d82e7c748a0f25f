"""The clock probe: its chain in the assembly, and its calibration on made-up cores."""

from __future__ import annotations

import pytest
from cpu_targets import TARGETS, host, instructions

from ert_numba.kernels import cpu_clock
from ert_numba.kernels.cpu_clock import CHAIN, ClockProbe, emit_additions, make_probe
from ert_numba.kernels.cpu_compile import check_count
from ert_numba.kernels.cpu_fma import BY_CEILING, emit_chains
from ert_numba.kernels.cpu_program import host_isa


@pytest.mark.parametrize("target", TARGETS, ids=lambda row: row.name)
def test_the_chains_are_one_instruction_after_another(target):
    operation = BY_CEILING["fp64.vector.fma" if target.isa.has_fma else "fp64.vector.add"]
    chain = target.assembly(emit_chains(operation, target.isa, accumulators=1, unroll=CHAIN))
    check_count("chain", operation.pattern(target.isa), chain, CHAIN)
    additions = [row for row in instructions(target.assembly(emit_additions)) if row.mnemonic in ("addq", "add", "lsl")]
    doublings = [row for row in additions if len(set(row.operands)) == 1 or row.mnemonic == "lsl"]
    assert len(doublings) >= CHAIN
    assert len(doublings) % CHAIN == 0


def calibrated(monkeypatch, chained: float, added: float) -> ClockProbe:
    monkeypatch.setattr(cpu_clock, "_fastest", lambda kernels: [chained, added])
    return make_probe(host_isa(host()))


@pytest.mark.parametrize("latency", [2, 3, 4, 5, 8])
def test_a_whole_number_of_cycles_is_trusted(latency, monkeypatch):
    added = CHAIN / 3e9  # 32 additions at 3 GHz
    probe = calibrated(monkeypatch, latency * added * 1.01, added)
    assert probe.trusted
    assert probe.cycles == CHAIN * latency
    seconds = probe.repetitions * probe.cycles / 3e9
    assert probe.clock_hz(round(seconds * 1e9)) == pytest.approx(3e9, rel=1e-3)


@pytest.mark.parametrize("latency", [0.3, 3.5, 4.4])
def test_anything_between_is_not_and_the_integer_chain_stands_in(latency, monkeypatch):
    added = CHAIN / 3e9
    probe = calibrated(monkeypatch, latency * added, added)
    assert not probe.trusted
    assert probe.cycles == CHAIN
    assert probe.repetitions * probe.cycles / 3e9 == pytest.approx(cpu_clock.PROBE_SECONDS, rel=0.05)
