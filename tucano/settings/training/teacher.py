"""A teacher of GRPO's student: `grpo.teacher`."""

from collections.abc import Iterator

from pydantic import Field, NonNegativeFloat, PositiveFloat

from tucano.security.addresses import is_external
from tucano.settings.base import Section
from tucano.settings.endpoint import Endpoint, EndpointSettings


class Teacher(Section):
    """Who teaches and how much it counts: what a training follows from."""

    endpoint: Endpoint
    weight: PositiveFloat = Field(
        1.0, description="Of log p(teacher) - log p(student), in nats, in the advantage of a token."
    )
    reward_weight: NonNegativeFloat = Field(
        1.0, description="Of the reward's advantage beside it; 0: the teacher alone teaches."
    )


class TeacherSettings(Teacher):
    """A larger model with the student's tokenizer that says how likely it finds the student's tokens."""

    endpoint: EndpointSettings = Field(description="A vLLM server, asked at /completions with prompt_logprobs.")
    allow_external: bool = Field(
        False, description="Let prompts and answers leave this machine for a teacher that is not on it."
    )

    def _faults(self) -> Iterator[str]:
        if is_external(self.endpoint.url) and not self.allow_external:
            yield (
                f"grpo.teacher: all prompts and answers of the training would leave this machine for"
                f" {self.endpoint.name}; allow it with grpo.teacher.allow_external=true, or name a teacher here"
            )
