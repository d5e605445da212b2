"""What is asked and answered inside the server, and why there may be no answer."""

from dataclasses import dataclass

from tucano.errors import TucanoError
from tucano.prompts import Task


class Unavailable(TucanoError):
    """Who was asked cannot answer now; somebody else, or a later attempt, may."""


class Refused(TucanoError):
    """Who was asked does not take this request; asked again it would not either."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One request: a text for a task. max_tokens, temperature: None for what the model is served with. form: the JSON
    schema that the client's answer has to have the form of, instead of the task's own. earlier, seed: see `Question`.
    """

    task: Task
    text: str
    max_tokens: int | None = None
    temperature: float | None = None
    form: str | None = None
    earlier: tuple[str, ...] = ()
    seed: int | None = None

    @property
    def alone(self) -> bool:
        """Whether text and answer are by themselves one of the task, as those are who read the request log."""
        return self.form is None and not self.earlier


@dataclass(frozen=True, slots=True)
class Answer:
    """A text and who gave it: `tucano/2`, `rules`, or an endpoint's name. truncated: it has no end."""

    text: str
    by: str
    tokens_in: int = 0
    tokens_out: int = 0
    truncated: bool = False
