"""What every suite shares: hypothesis judges results, never the speed of the machine that it runs on."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
