"""docs/settings.md is what the code says, and TRL's names in it are TRL's."""

import ast
import dataclasses
import inspect
from pathlib import Path

import pytest
from trl import DPOConfig, GRPOConfig, GRPOTrainer, ModelConfig, SFTConfig

from docs.settings_reference import reference, trl_names
from tucano.settings import DpoSettings, GrpoSettings, ModelSettings, SftSettings

ROOT = Path(__file__).parent.parent
CONFIGURATIONS = (GRPOConfig, SFTConfig, DPOConfig, ModelConfig)
KNOWN_TO_TRL = {field.name for config in CONFIGURATIONS for field in dataclasses.fields(config)} | {
    *inspect.signature(GRPOTrainer.__init__).parameters
}
NAMES = {
    "grpo": trl_names(GrpoSettings),
    "sft": trl_names(SftSettings),
    "dpo": trl_names(DpoSettings),
    "model": trl_names(ModelSettings),
}


def test_the_page_is_current() -> None:
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == reference()


@pytest.mark.parametrize("section", NAMES)
def test_every_name_that_is_called_trls_is_one(section: str) -> None:
    assert NAMES[section]
    assert {name for names in NAMES[section].values() for name in names} <= KNOWN_TO_TRL


def handed_to_trl() -> dict[tuple[str, str], set[str]]:
    """{(section, our setting): TRL's arguments} wherever a setting goes to one of TRL's configurations as it is."""
    found: dict[tuple[str, str], set[str]] = {}
    for path in (ROOT / "tucano" / "training").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("GRPOConfig", "SFTConfig", "DPOConfig"):
                for argument in node.keywords:
                    *_, section, setting = ("", "", *ast.unparse(argument.value).split("."))
                    if argument.arg and section in NAMES and setting.isidentifier():
                        found.setdefault((section, setting), set()).add(argument.arg)
    return found


def test_a_setting_that_goes_to_trl_under_another_name_says_so() -> None:
    found = handed_to_trl()
    assert found["grpo", "generations"] == {"num_generations"} and len(found) > 20
    silent = {key: theirs for key, theirs in found.items() if not theirs & {key[1], *NAMES[key[0]].get(key[1], [])}}
    assert silent == {}
