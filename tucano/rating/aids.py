"""What a rater needs beside a text: the part of the guide that applies to the task."""

from collections.abc import Sequence

from tucano.errors import UserError
from tucano.project import OWN_FILES
from tucano.prompts import TASKS, Task
from tucano.specs.registry import spec_of

GUIDE = OWN_FILES / "docs" / "rating-guide.pt.md"


def guides() -> dict[Task, str]:
    """{task: Markdown}: the guide's section on the task, which a rater looks at again and again, then what it says in
    general.

    Raises UserError naming the task whose section is missing.
    """
    general, *sections = GUIDE.read_text(encoding="utf-8").split("\n## ")
    return {task: f"## {_section(task, sections)}\n{general}" for task in TASKS}


def _section(task: Task, sections: Sequence[str]) -> str:
    heading = spec_of(task).display.guide
    found = next((section for section in sections if section.startswith(heading)), None)
    if found is None:
        raise UserError(
            f"{GUIDE} has no section «## {heading}» for the task {task}; write it, or mend `display.guide` in the"
            " task's spec"
        )
    return found
