"""What a notebook uses: every public name is there, and each chart draws."""

import pytest
import vega_specs
from example_profiles import DATA

import appprof
from ert_numba.errors import ErtError


def test_every_public_name_is_there():
    assert all(getattr(appprof, name) is not None for name in appprof.__all__)
    with pytest.raises(AttributeError):
        _ = appprof.no_such_name


def test_charts_of_a_report():
    analysis = appprof.analyse(DATA / "h200" / "micro.ncu-rep")
    for chart in (appprof.chart(analysis), appprof.instruction_chart(analysis),
                  appprof.diff_chart(appprof.compare(analysis, analysis))):  # fmt: skip
        vega_specs.check_log_axes(vega_specs.plain(chart))


def test_a_chart_of_what_was_not_counted_is_an_error_with_a_remedy():
    with pytest.raises(ErtError, match="smsp__inst_executed") as raised:
        appprof.instruction_chart(appprof.analyse(DATA / "faults" / "F01_locale_dot_grouping.csv"))
    assert raised.value.remedy.startswith("ncu ")
