import example_models
import msgspec
import pytest
from vega_specs import marked, plain

from ert_numba.charts.limits_chart import limits_chart
from ert_numba.charts.roofline import NARROW, WIDE
from ert_numba.charts.words import ceiling_words
from ert_numba.errors import ErtError


@pytest.mark.parametrize("size", [WIDE, NARROW])
@pytest.mark.parametrize("model", [example_models.cpu_model(), example_models.h200_model()], ids=["cpu", "h200"])
def test_every_limited_ceiling_is_a_row_at_its_share(model, size):
    spec = plain(limits_chart(model, size))
    limited = [row for row in model.ceilings if row.limit and not row.impossible and row.scope == "all"]
    assert {row["ceiling"]: row["share"] for row in marked(spec, "point")} == {
        ceiling_words(row, model.device.kind): row.value / row.limit for row in limited
    }


def test_formats_stand_together_and_levels_go_outwards():
    words = [row["ceiling"] for row in marked(plain(limits_chart(example_models.h200_model())), "point")]
    assert words.index("FP64 no FMA") < words.index("FP32 FMA") < words.index("INT8 tensor, wgmma")
    assert words.index("L1 read") < words.index("L2 read, private") < words.index("Device memory read")


def test_two_ceilings_of_the_same_words_keep_two_rows():
    model = example_models.cpu_model()
    twin = msgspec.structs.replace(model.ceiling("fp64.vector.fma"), key="fp64.vector.fma.again")
    spec = plain(limits_chart(msgspec.structs.replace(model, ceilings=(*model.ceilings, twin))))
    assert len({row["row"] for row in marked(spec, "point")}) == len(marked(spec, "point"))


def test_without_a_limit_there_is_no_chart():
    model = example_models.cpu_model()
    rows = tuple(msgspec.structs.replace(row, limit=None) for row in model.ceilings)
    with pytest.raises(ErtError, match="no ceiling has a known limit"):
        limits_chart(msgspec.structs.replace(model, ceilings=rows))
