"""What a rater needs beside a text: the part of the guide that applies to the task."""

from tucano.project import OWN_FILES
from tucano.prompts import TASKS, Task

GUIDE = OWN_FILES / "docs" / "rating-guide.md"
HEADINGS: dict[Task, str] = {"extraction": "Extraction", "sql_qa": "SQL question", "insights": "Insights", "push": "Push"}


def guides() -> dict[Task, str]:
    """{task: Markdown}: the guide's section on the task, which a rater looks at again and again, then what it says in general."""
    general, *sections = GUIDE.read_text(encoding="utf-8").split("\n## ")
    return {task: f"## {next(part for part in sections if part.startswith(HEADINGS[task]))}\n{general}" for task in TASKS}
