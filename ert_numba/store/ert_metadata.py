"""What the four generations of ERT's ``roofline.json`` say beside their figures, as one flat table. Pure.

0.8 put the metadata beside each part; 1.1 pulled up what the parts share; since the port to Python 3 all of it stands
as lines of text under one empty key, the configuration as the text that Python prints of a dictionary.
Source: ``Python/ert_core.py`` of uo-cdux/ert-mirror.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

Metadata = dict[str, Any]

# No '[' inside the value: a text of openings without an end would cost the square of its length.
_CONFIG_ENTRY = re.compile(r"'(ERT_\w+)': \[([^\[\]]*)\]")
_CONFIG_WORD = re.compile(r"'([^']*)'|([\w.]+)")
_MACHINE = re.compile(r"machine='(\w{1,40})'")
_PLAIN = re.compile(r"[\w.+-]{1,40}")
_LAST_CREDIBLE_SECOND = 4e9


def flatten(shared: Metadata, own: Metadata) -> Metadata:
    """The metadata of one part, whichever generation wrote it."""
    facts: Metadata = {}
    for source in (shared, own):
        facts.update({key: value for key, value in source.items() if key})
        lines = source.get("")
        for line in lines if isinstance(lines, list) else [lines]:
            if isinstance(line, str):
                key, _, value = line.partition(" ")
                facts.setdefault(key, value.strip())
    return facts


def configuration(facts: Metadata) -> dict[str, str]:
    """ERT's configuration, each value as one text."""
    config = facts.get("CONFIG")
    if isinstance(config, str):
        return {key: _words(words) for key, words in _CONFIG_ENTRY.findall(config)}
    if isinstance(config, dict):
        return {key: " ".join(map(str, words)) for key, words in config.items() if isinstance(words, list)}
    # 0.8 wrote the configuration among the rest.
    return {key: _words(text) for key, text in facts.items() if key.startswith("ERT_") and isinstance(text, str)}


def version(facts: Metadata) -> str:
    """The version of ERT, where it looks like one."""
    text = str(facts.get("ERT_VERSION", ""))
    return text if _PLAIN.fullmatch(text) else "unknown"


def is_gpu(facts: Metadata) -> bool:
    return "GPU_BLOCKS" in facts or configuration(facts).get("ERT_GPU") == "True"


def architecture(facts: Metadata) -> str:
    """The instruction set that ``uname`` named. The host name beside it is private and is not read."""
    uname = facts.get("UNAME")
    if isinstance(uname, str) and (match := _MACHINE.search(uname)):
        return match[1]
    if isinstance(uname, list) and len(uname) > 4 and _PLAIN.fullmatch(str(uname[4])):
        return str(uname[4])
    return "unknown"


def measured_at(facts: Metadata) -> datetime | None:
    seconds = facts.get("TIMESTAMP_DB")
    if isinstance(seconds, int | float) and 0 < seconds < _LAST_CREDIBLE_SECOND:
        return datetime.fromtimestamp(seconds, UTC)
    return None


def _words(text: str) -> str:
    return " ".join(quoted or bare for quoted, bare in _CONFIG_WORD.findall(text))
