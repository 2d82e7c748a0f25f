import example_models
import msgspec

from ert_numba.charts.provenance_section import provenance_section

CPU = example_models.cpu_model()


def test_the_section_has_no_row_without_a_value():
    text = provenance_section(msgspec.structs.replace(CPU, settings={"sizes": "", "quick": False}), None)
    assert "Settings" not in text
    assert "<dd></dd>" not in text
