"""Charts as files: Vega-Lite JSON for web pages and notebooks, SVG and PNG for papers."""

from __future__ import annotations

import json
from pathlib import Path

from ert_numba.charts.theme import AnyChart, recoloured
from ert_numba.charts.vega import VEGA_LITE
from ert_numba.errors import ErtError
from ert_numba.files import write_bytes_new, write_text_new

_PNG_SCALE = 2.0


def write_vega_lite(path: Path, chart: AnyChart) -> Path:
    """The chart's Vega-Lite JSON: byte for byte the same for the same chart. Raises ErtError, as all of these do."""
    text = json.dumps(chart.to_dict(validate=False), allow_nan=False, sort_keys=True, indent=1, ensure_ascii=False)
    return write_text_new(path, text + "\n")


def write_image(path: Path, chart: AnyChart, dark: bool = False, form: str = "") -> Path:
    """The chart as ``svg`` or ``png`` (two pixels a point): the ``form``, or else by the ending of the path."""
    import vl_convert  # 84 MB: only where a page or a picture is made

    ending = f".{form}" if form else Path(path).suffix.lower()
    if ending not in (".svg", ".png"):
        raise ErtError(
            f"the picture {path}", f"the ending {ending!r}" if ending else "no ending", "End the name in .svg or .png"
        )
    spec = chart.to_dict()
    spec = recoloured(spec) if dark else spec
    if ending == ".svg":
        return write_text_new(path, vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE))
    return write_bytes_new(path, vl_convert.vegalite_to_png(spec, vl_version=VEGA_LITE, scale=_PNG_SCALE))
