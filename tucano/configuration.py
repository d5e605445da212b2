"""Which settings make a configuration: what runs share that differ only in their seeds, or in where they ran."""

from collections.abc import Mapping
from typing import Any

from tucano.artifacts.identity import digest
from tucano.security.printable import short

SECTIONS = ("data", "model", "sft", "grpo")
ELSEWHERE = {"data": {"path"}, "grpo": {"seeds", "own_decoding"}, "dpo": {"pairs"}, "model": {"device"}}
"""Settings of these sections that make no other configuration: where the data lie, which seeds are drawn, what
computes.
"""

PLACES = {"storage", "tracking_uri"}
"""Settings that say where things are kept: a run that moves is the same run."""
SAID = PLACES | {"grpo.seeds"}
"""Settings that a run's name does not repeat: the seeds it names anyway."""
MOST_SAID = 3
LONGEST = 24
"""Characters of a setting's value in a name."""
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


def run_name(profile: str, differs: Mapping[str, Any]) -> str:
    """Like `laptop learning_rate=0.002`: the profile, and the settings in which a run differs from it."""
    told = telling({name: value for name, value in differs.items() if name not in SAID})
    shown = [f"{name.rpartition('.')[2]}={short(str(value), LONGEST)}" for name, value in told.items()]
    return " ".join([profile, *shown[:MOST_SAID], *(["…"] if len(shown) > MOST_SAID else [])])
