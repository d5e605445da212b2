"""APIs that answer as OpenAI's do."""

from collections.abc import Iterator

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from tucano.security.addresses import is_external
from tucano.security.texts import ArmName, BaseUrl, Line
from tucano.settings.base import Section


class Endpoint(Section):
    """Which model of which API answers."""

    name: str
    url: str
    model: str


class EndpointSettings(Endpoint):
    """A model behind an OpenAI-compatible chat API."""

    name: ArmName = Field(description="What its arm is called, like gpt-4o-mini.")
    url: BaseUrl = Field(description="Base URL, like https://api.openai.com/v1 or http://127.0.0.1:8000/v1.")
    model: Line = Field(description="Model name that the API expects.")
    key_env: str | None = Field(
        None, description="Environment variable that holds the key; the key itself is never stored."
    )
    dollars_in: NonNegativeFloat = Field(0.0, description="US dollars per million prompt tokens.")
    dollars_out: NonNegativeFloat = Field(0.0, description="US dollars per million completion tokens.")
    timeout_s: PositiveFloat = Field(60, le=86_400, description="Longest wait for one whole answer, in seconds.")
    attempts: PositiveInt = Field(4, le=100, description="Attempts per answer before it counts as failed.")
    parallel: PositiveInt = Field(4, le=1000, description="Requests at a time.")

    def _faults(self) -> Iterator[str]:
        if self.key_env and self.url.lower().startswith("http://") and is_external(self.url):
            host = self.url.partition("://")[2].partition("/")[0]
            yield f"endpoint {self.name} would send its key over plain http to {host}; use https"
