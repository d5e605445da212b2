"""Which settings make a configuration: what runs share that differ only in their seeds, or in where they ran."""

from collections.abc import Mapping
from typing import Any

from tucano.artifacts.identity import digest

SECTIONS = ("data", "model", "sft", "grpo")
ELSEWHERE = {"data": {"path"}, "grpo": {"seeds", "own_decoding"}, "dpo": {"pairs"}, "model": {"device"}}
"""Settings of these sections that make no other configuration: where the data lie, which seeds are drawn, what
computes.
"""

SHORT = {"learning_rate": "lr", "max_steps": "steps", "generations": "k", "batch_size": "batch", "max_epochs": "epochs"}
"""Settings that people change most, as narrow columns have room for."""


def of_configuration(settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """{section: {setting: value}} of those, from a pipeline's settings as JSON; DPO's where it is on."""
    after = ("dpo",) if settings.get("dpo", {}).get("enabled") else ()
    return {
        section: {
            name: value for name, value in settings.get(section, {}).items() if name not in ELSEWHERE.get(section, ())
        }
        for section in (*SECTIONS, *after)
    }


def configuration_digits(settings: Mapping[str, Any]) -> str:
    """Like `#3fa9c1`: six digits of a digest of all that makes the configuration."""
    return f"#{digest(of_configuration(settings))[:6]}"


def telling(differs: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by their dotted names, those first that people change most: a name or a headline has room for few."""
    return dict(sorted(differs.items(), key=lambda item: item[0].rpartition(".")[2] not in SHORT))
