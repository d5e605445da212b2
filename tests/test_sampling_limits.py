"""No temperature makes a draw of infinities (tucano/training/samplers/__init__.py)."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tucano.errors import UserError
from tucano.profiles import validated
from tucano.training.samplers import LOWEST_TEMPERATURE, Decoding
from tucano.training.samplers.decode import draw


@given(st.floats(0, 2))
def test_whatever_temperature_is_asked_for_a_likely_token_is_drawn(temperature: float) -> None:
    drawn = draw(torch.tensor([[0.0, 90.0, 1.0]]), Decoding(8, temperature, (0,)).temperature, None)
    assert drawn.tolist() == [1]


@pytest.mark.parametrize(("asked", "drawn_at"), [(0.0, 0.0), (1e-38, 0.0), (0.0099, 0.0), (LOWEST_TEMPERATURE, 0.01)])
def test_below_the_lowest_temperature_is_greedy(asked: float, drawn_at: float) -> None:
    assert Decoding(8, asked, (0,)).temperature == drawn_at


def test_nothing_is_judged_at_a_temperature_that_no_sampler_draws_at() -> None:
    with pytest.raises(UserError, match="served_temperature"):
        validated({"comparison": {"served_temperature": 2.5}})
