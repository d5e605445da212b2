"""Which task a prompt asks for, where it carries no label."""

import re

from rewards.parsing.text import fold
from rewards.tasks.registry import REWARDS

_STATED = (
    r"\b(?:conversao|ticket medio|cancelamento|recompra|devolucao|receita|pedidos|nota media|frete medio|atraso)\b"
    r"\D{0,24}\d"
)
"""An indicator with its figure: who states two of them asks what they mean, not what they are."""
_MARKS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "extraction",
        re.compile(
            r"\bjson\b|\bextra(?:ia|ir|cao)\b|\bos campos\b"
            r"|^\W*(?:avaliacao\b|ficha\b|nota \d|categoria [^.?]*\bnota \d)"
        ),
    ),
    *((task, rewards.marks) for task, rewards in REWARDS.items()),
    ("sql_qa", re.compile(r"\bsql\b|\btabelas? |\bbanco de dados\b|\bcreate table\b")),
    (
        "insights",
        re.compile(
            r"\binsights?\b|\banalis\w+|\brecomend|\breengaj|\bo que fazer\b|\bcomo (?:melhorar|agir)\b|\bplano d[eo]\b"
            rf"|{_STATED}[^?]*?{_STATED}"
        ),
    ),
    ("push", re.compile(r"\bpush\b|\bnotificac(?:ao|oes)\b")),
)


def classify_task(user_text: str) -> str:
    """The task of a prompt without a label; what shows no mark is a question about the store (sql_qa).

    Insights is tested before push: «reengajamento» was once misrouted.
    """
    text = fold(user_text)
    return next((task for task, marks in _MARKS if marks.search(text)), "sql_qa")
