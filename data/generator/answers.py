"""What a good answer looks like, task by task, in a form that defects can be put into before it becomes text."""

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ExtractionAnswer:
    """Compact JSON on one line. `values` may be broken by defects."""

    values: dict[str, Any]
    lead: str = ""
    kept: float = 1.0

    def text(self) -> str:
        whole = self.lead + json.dumps(self.values, ensure_ascii=False, separators=(",", ":"))
        return whole[: round(len(whole) * self.kept)]


@dataclass(frozen=True)
class SqlAnswer:
    """A fenced query, then the explanation with the number that it returns."""

    sql: str
    explanation: str
    fenced: bool = True

    def text(self) -> str:
        query = f"```sql\n{self.sql}\n```" if self.fenced else self.sql
        return f"{query}\n{self.explanation}".strip()


@dataclass(frozen=True)
class InsightsAnswer:
    """A diagnosis that uses the key figures, then actions as bullets."""

    heading: str
    diagnosis: str
    actions: tuple[str, ...]
    structured: bool = True

    def text(self) -> str:
        if self.structured:
            return "\n".join([f"**{self.heading}:** {self.diagnosis}", *(f"- {action}" for action in self.actions)])
        return " ".join([self.diagnosis, *self.actions])


@dataclass(frozen=True)
class PushAnswer:
    """One line of at most 120 characters that names the product."""

    line: str
    product: str

    def text(self) -> str:
        return self.line


Answer = ExtractionAnswer | SqlAnswer | InsightsAnswer | PushAnswer
