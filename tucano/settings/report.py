"""What the report is given to show."""

from typing import Any

from tucano.settings.base import Section


class ReportStage(Section):
    """What the report shows, beside what the stages made: settings, where they differ from the profile, and the
    lineage.
    """

    settings: dict[str, Any]
    profile: str
    differences: tuple[tuple[str, Any, Any], ...]
    lineage: dict[str, str]
