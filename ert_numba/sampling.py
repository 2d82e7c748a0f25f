"""From a request to samples: choose a device, plan its points, measure them, gather all of it as one sweep."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ert_numba.errors import DeviceLost, ErtError
from ert_numba.kernels.spec import Request
from ert_numba.records import DeviceInfo, Skipped, Sweep

if TYPE_CHECKING:
    from ert_numba.backends import Backend


def measured(
    request: Request | None = None,
    *,
    backend: str = "auto",
    device: int = 0,
    budget_seconds: float | None = None,
    before: Sweep | None = None,
    full_provenance: bool = False,
    listener: Callable[[Any], None] | None = None,
    begun: Callable[[DeviceInfo], None] | None = None,
) -> tuple[Sweep, KeyboardInterrupt | DeviceLost | None]:
    """A request on the device that a back end finds: the samples, and what ended the measuring early.

    ``before`` is an interrupted sweep to go on with, as it began. ``listener`` is called with
    ``measure.sweep.Progress``; ``begun`` hears of the device before it is made ready. Raises ErtError.
    """
    started = time.monotonic()
    from ert_numba.backends import choose
    from ert_numba.request import checked, from_settings

    if before is not None:
        request, budget = from_settings(before.settings)
        backend = {"gpu": "cuda"}.get(before.device.kind, before.device.kind)
        budget_seconds = budget if budget_seconds is None else budget_seconds
    request = request or Request()
    chosen, refusals = choose(backend, device)
    # A GPU that is there and was not measured must not go unsaid.
    better = tuple(Skipped(what=row.backend, reason=row.reason) for row in refusals)
    chosen = replace(chosen, absent=(*chosen.absent, *better))
    if budget_seconds is None:
        budget_seconds = chosen.budgets[request.quick]
    checked(request, budget_seconds, chosen.device)
    if begun is not None:
        begun(chosen.device)
    return _measure(chosen, request, budget_seconds, before, full_provenance, listener, started)


def _measure(
    chosen: Backend,
    request: Request,
    budget_seconds: float,
    before: Sweep | None,
    full_provenance: bool,
    listener: Callable[[Any], None] | None,
    started: float,
) -> tuple[Sweep, KeyboardInterrupt | DeviceLost | None]:
    from ert_numba.measure.sweep import measure, plan_points
    from ert_numba.request import require_alike, to_settings
    from ert_numba.store.provenance import collect

    provenance = collect(versions=_driver(chosen.device.properties), full=full_provenance)
    if before is not None:
        require_alike(before, chosen.device, provenance.versions)
    earlier = before.samples if before is not None else ()
    known = {row.point.key for row in earlier}
    tracks, skipped = plan_points(chosen.kernels, lambda spec: spec.points(chosen.device, request), known)
    timer = chosen.open_timer(request)
    try:
        plan = chosen.plan(budget_seconds)  # counts from here: a GPU's kernels are compiled by now
        outcome = measure(tracks, timer, plan, listener or (lambda _: None), time.monotonic(), known)
    finally:
        timer.close()
    if not outcome.samples and not earlier:
        reasons = list(dict.fromkeys(row.reason for row in (*skipped, *outcome.skipped)))
        found = f"nothing was measured ({reasons[0]})" if reasons else "nothing was measured"
        raise ErtError("a sweep", found, "Give it more time, or ask for other precisions or levels")
    done = Sweep(
        run="unsaved",
        device=chosen.device,
        settings=to_settings(request, budget_seconds),
        samples=(*earlier, *outcome.samples),
        skipped=_once((*skipped, *chosen.absent, *outcome.skipped)),
        partial=outcome.partial,
        wall_seconds=time.monotonic() - started + (before.wall_seconds if before is not None else 0.0),
        provenance=provenance,
    )
    return done, outcome.stopped


def _driver(properties: dict[str, str]) -> dict[str, str]:
    return {name: properties[name] for name in ("driver", "CUDA driver") if name in properties}


def _once(skipped: tuple[Skipped, ...]) -> tuple[Skipped, ...]:
    return tuple({(row.what, row.reason): row for row in skipped}.values())
