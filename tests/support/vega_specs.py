"""Looking into a Vega-Lite specification: its layers with their rows, its log axes, its validity."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Any

import jsonschema


@cache
def _validator() -> Any:
    text = resources.files("altair.vegalite.v6.schema").joinpath("vega-lite-schema.json").read_text(encoding="utf-8")
    return jsonschema.Draft7Validator(json.loads(text))


def plain(chart: Any) -> Any:
    """The specification as a browser gets it, strict JSON and valid Vega-Lite."""
    spec = json.loads(json.dumps(chart.to_dict(), allow_nan=False))
    errors = [error.message[:300] for error in _validator().iter_errors(spec)]
    assert not errors, errors
    return spec


def layers(spec: Any, datasets: Any = None) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Every unit of a specification with its rows."""
    datasets = spec.get("datasets") if datasets is None else datasets
    for name in ("layer", "vconcat", "hconcat"):
        for part in spec.get(name, ()):
            yield from layers({**({"data": spec["data"]} if "data" in spec else {}), **part}, datasets)
    if "mark" in spec:
        data = spec["data"]
        yield spec, datasets[data["name"]] if "name" in data else data["values"]


def marked(spec: Any, mark: str, **properties: Any) -> list[dict[str, Any]]:
    """The rows of all units of one mark type whose mark has these properties."""
    found = []
    for unit, rows in layers(spec):
        type_and_more = unit["mark"] if isinstance(unit["mark"], dict) else {"type": unit["mark"]}
        if type_and_more["type"] == mark and all(type_and_more.get(key) == value for key, value in properties.items()):
            found += rows
    return found


def check_log_axes(spec: Any) -> None:
    """Every log axis has a positive domain, written out, and no row stands on it at 0 or below."""
    seen = 0
    for unit, rows in layers(spec):
        for channel, definition in unit["encoding"].items():
            scale = definition.get("scale") if isinstance(definition, dict) else None
            if not isinstance(scale, dict) or scale.get("type") != "log":
                continue
            seen += 1
            low, high = scale["domain"]
            assert 0 < low < high
            assert scale["nice"] is False
            fields = [definition["field"]]
            fields += [unit["encoding"][f"{channel}2"]["field"]] if f"{channel}2" in unit["encoding"] else []
            assert all(row[field] > 0 for row in rows for field in fields), (unit["mark"], fields)
    assert seen


def colours(spec: Any) -> set[str]:
    return set(re.findall(r"#[0-9a-fA-F]{3,8}\b", json.dumps(spec)))
