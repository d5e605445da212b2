"""The variants of the ablation are settings that exist."""

import pytest

from benchmarks.ablation import VARIANTS
from tucano.profiles import OWN_FILES, load_profile


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_variant_is_a_run_of_its_own(variant: str) -> None:
    settings = load_profile(OWN_FILES, "laptop", VARIANTS[variant])
    others = [load_profile(OWN_FILES, "laptop", VARIANTS[other]) for other in VARIANTS if other != variant]
    assert (settings.grpo, settings.data, settings.dpo) not in [(other.grpo, other.data, other.dpo) for other in others]
