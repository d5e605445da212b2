"""Settings of the registry: `promotion.*`."""

from pydantic import Field, NonNegativeFloat, PositiveFloat

from tucano.security.texts import Name
from tucano.settings.base import Section


class PromotionSettings(Section):
    """When a candidate becomes the registry's champion."""

    model: Name = Field("tucano", description="Name in the model registry.")
    margin: NonNegativeFloat = Field(
        0.02, description="A challenger may be at most this much worse than the champion (95 % bound)."
    )
    approval_hours: PositiveFloat | None = Field(
        None,
        le=8760,
        description="Hours that a person has to approve a challenger in the Prefect page; nobody is asked when empty.",
    )
