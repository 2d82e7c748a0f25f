"""Hypothesis strategies for documents that obey every rule: any device, any samples, any ceilings."""

from __future__ import annotations

from hypothesis import strategies as st

from ert_numba.machine import Ceiling, Knee, MachineModel, ProofPoint
from ert_numba.records import Cache, DeviceInfo, Limit, Point, Provenance, Sample, Skipped, Sweep, Work
from ert_numba.store.checks import CEILING_KINDS
from ert_numba.store.magnitudes import LEAST, MOST

words = st.text(max_size=12)
positive = st.floats(LEAST, MOST)
not_negative = st.just(0.0) | positive
counts = st.integers(min_value=1, max_value=2**53)
finite = not_negative | positive.map(lambda number: -number)
axis_values = st.one_of(st.integers(-(2**63), 2**63 - 1), finite, words, st.booleans())
settings = st.dictionaries(words, axis_values, max_size=3)
texts = st.dictionaries(words, words, max_size=3)


def tuples(elements: st.SearchStrategy, minimum: int = 0) -> st.SearchStrategy:
    return st.lists(elements, min_size=minimum, max_size=3).map(tuple)


caches = st.builds(Cache, level=words, bytes=counts, shared_by=counts, instances=counts, source=words)
limits = st.builds(Limit, key=words, per_cycle=st.none() | positive, per_second=st.none() | positive, source=words)
devices = st.builds(
    DeviceInfo,
    kind=st.sampled_from(["cpu", "gpu"]),
    name=words,
    vendor=words,
    architecture=words,
    units=counts,
    threads=counts,
    sockets=counts,
    numa_nodes=counts,
    memory_bytes=st.integers(0, 2**53),
    maximum_clock_hz=st.none() | positive,
    features=tuples(words),
    caches=tuples(caches),
    limits=tuples(limits),
    properties=texts,
    notes=tuples(words),
)
points = st.builds(Point, kernel=words, ceiling=words, axes=settings)
works = st.builds(
    Work, flop=positive, bytes_counted=not_negative, bytes_moved=not_negative, accesses=not_negative
)  # one amount is above 0, as every work must have


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    seconds = draw(tuples(positive, minimum=1))
    clocks = draw(st.lists(positive, max_size=len(seconds)).map(tuple))
    return Sample(
        point=draw(points),
        work=draw(works),
        seconds=seconds,
        clock_hz=clocks,
        steal_seconds=draw(not_negative),
        warmups=draw(st.integers(0, 1000)),
        noisy=draw(st.booleans()),
        verified=draw(st.none() | st.booleans()),
        code=draw(words),
        conditions=draw(settings),
    )


intervals = st.lists(positive, min_size=3, max_size=3).map(sorted)
provenances = st.builds(
    Provenance,
    created=words,
    tool=words,
    versions=texts,
    system=words,
    host_name=st.none() | words,
    user=st.none() | words,
    command_line=st.none() | words,
)
skipped = st.builds(Skipped, what=words, reason=words)
sweeps = st.builds(
    Sweep,
    schema=st.just("ert_numba.sweep"),
    version=st.just(1),
    run=words,
    device=devices,
    settings=settings,
    samples=tuples(samples()),
    skipped=tuples(skipped),
    partial=st.booleans(),
    wall_seconds=not_negative,
    provenance=provenances,
)


@st.composite
def ceilings(draw: st.DrawFn) -> Ceiling:
    low, value, high = draw(intervals)
    clocks = draw(st.none() | st.lists(positive, min_size=2, max_size=2).map(sorted).map(tuple))
    return Ceiling(
        key=draw(words),
        kind=draw(st.sampled_from(CEILING_KINDS)),
        value=value,
        low=low,
        high=high,
        unit=draw(words),
        precision=draw(st.none() | words),
        level=draw(st.none() | words),
        traffic_ratio=draw(positive),
        clock_hz=clocks,
        limit=draw(st.none() | positive),
        impossible=draw(st.booleans()),
        noisy=draw(st.booleans()),
        verified=draw(st.booleans()),
        conditions=draw(settings),
        note=draw(words),
    )


@st.composite
def knees(draw: st.DrawFn) -> Knee:
    low, value, high = draw(intervals)
    return Knee(
        level=draw(words),
        capacity_bytes=value,
        low=low,
        high=high,
        shape=draw(words),
        witness=draw(words),
        ceiling=draw(words),
        nominal_bytes=draw(st.none() | counts),
        agrees=draw(st.none() | st.booleans()),
    )


@st.composite
def proofs(draw: st.DrawFn) -> ProofPoint:
    low, value, high = draw(intervals)
    return ProofPoint(
        precision=draw(words),
        level=draw(words),
        intensity=draw(positive),
        value=value,
        low=low,
        high=high,
        attainable=draw(positive),
        bandwidth_key=draw(words),
        compute_key=draw(words),
        noisy=draw(st.booleans()),
    )


machine_models = st.builds(
    MachineModel,
    schema=st.just("ert_numba.machine"),
    version=st.just(1),
    run=words,
    device=devices,
    ceilings=st.lists(ceilings(), max_size=3, unique_by=lambda row: row.key).map(tuple),
    knees=tuples(knees()),
    proof=tuples(proofs()),
    skipped=tuples(skipped),
    partial=st.booleans(),
    notes=tuples(words),
    settings=settings,
    provenance=provenances,
)
