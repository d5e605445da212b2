"""What the parts of this package hand to each other."""

from collections.abc import Mapping
from typing import Any, Protocol


class PromptLike(Protocol):
    """What the truth reads of a prompt."""

    @property
    def task(self) -> str: ...
    @property
    def user(self) -> str: ...
    @property
    def stars(self) -> int | None: ...
    @property
    def reference(self) -> Mapping[str, Any]: ...
