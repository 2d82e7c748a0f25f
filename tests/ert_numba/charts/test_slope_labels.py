import math

from hypothesis import given, settings
from hypothesis import strategies as st

from ert_numba.charts.labels import text_width
from ert_numba.charts.roofline import NARROW, WIDE, Roof, frame
from ert_numba.charts.slope_labels import slope_labels


def slope(key: str, value: float) -> Roof:
    return Roof(key=key, label=f"{key} read  {value:.3g} B/s", short=key, value=value, colour="#000000", flat=False)


def flat(key: str, value: float) -> Roof:
    return Roof(key=key, label=key, short=key, value=value, colour="#000000", flat=True)


def corners(label, plane):
    """The label's rectangle in pixels, worked out anew from where the chart will put its text."""
    length, half = text_width(label.text, plane.size.font), plane.size.font / 2
    right, down = plane.right(label.x), plane.down(label.y)
    cos, sin = math.cos(plane.slope), math.sin(plane.slope)
    return [
        (right + along * cos - across * sin, down - along * sin - across * cos)
        for along, across in ((0, half), (length, half), (length, -half), (0, -half))
    ]


def overlap(one, other):
    """Separating axes of two rectangles."""
    for polygon in (one, other):
        for at in range(4):
            (x0, y0), (x1, y1) = polygon[at], polygon[(at + 1) % 4]
            normal = (y1 - y0, x0 - x1)
            first, second = ([x * normal[0] + y * normal[1] for x, y in corner] for corner in (one, other))
            if max(first) <= min(second) or max(second) <= min(first):
                return False
    return True


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.floats(1e9, 1e14), min_size=1, max_size=7),
    st.lists(st.floats(1e9, 1e16), min_size=0, max_size=20),
    st.sampled_from([WIDE, NARROW]),
)
def test_labels_never_overlap_or_leave_the_frame(rates, peaks, size):
    roofs = [slope(f"L{i}", rate) for i, rate in enumerate(rates)] + [flat(f"f{i}", p) for i, p in enumerate(peaks)]
    plane = frame(roofs, [], size, frozenset())
    boxes = [corners(label, plane) for label in slope_labels(roofs, plane, [])]
    for index, box in enumerate(boxes):
        assert all(-1 <= x <= size.width + 1 and -1 <= y <= size.height + 1 for x, y in box)
        assert not any(overlap(box, other) for other in boxes[:index])


def test_every_level_gets_its_label_beside_its_own_roof():
    roofs = [slope("L1", 4e11), slope("L2", 2.3e11), slope("L3", 1.8e11), slope("DRAM", 6e10), flat("fp64", 1.2e11)]
    plane = frame(roofs, [], WIDE, frozenset())
    labels = slope_labels(roofs, plane, [])
    assert {label.key for label in labels} == {"L1", "L2", "L3", "DRAM"}
    for label in labels:
        apart = {roof.key: abs(math.log(label.y / (label.x * roof.value))) for roof in roofs if not roof.flat}
        assert min(apart, key=apart.get) == label.key


def test_two_levels_of_one_rate_get_two_labels():
    roofs = [slope("SHARED", 3.31e13), slope("L1", 3.30e13), flat("fp64", 3e13)]
    assert len(slope_labels(roofs, frame(roofs, [], WIDE, frozenset()), [])) == 2


def test_a_label_that_fits_nowhere_is_left_out():
    roofs = [slope("L" * 300, 1e11), flat("fp64", 1e11)]
    assert slope_labels(roofs, frame(roofs, [], WIDE, frozenset()), []) == []


def test_labels_step_aside_for_dots():
    roofs = [slope("DRAM", 6e10), flat("fp64", 1.2e12)]
    plane = frame(roofs, [], WIDE, frozenset())
    (free,) = slope_labels(roofs, plane, [])
    (aside,) = slope_labels(roofs, plane, [(free.x * 1.2, free.y * 1.2)])
    assert (aside.x, aside.y) != (free.x, free.y)
