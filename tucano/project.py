"""The files that belong to the program and are no code: the profiles, the tested versions, the rating guide."""

from pathlib import Path

_CARRIED = Path(__file__).parent / "carried"
"""Only a wheel has this folder; pyproject.toml (force-include) says what lies in it."""

OWN_FILES = _CARRIED if _CARRIED.is_dir() else Path(__file__).parents[1]
"""The checkout that this code is from, or what the wheel carries of it under the same relative paths."""

COMMITTED_RATINGS = Path(__file__).parents[1] / "data" / "ratings"
"""What the audit reads unless the settings name another folder."""
OF_RELATIONS = "relations: "
"""So begin the names of those inputs of an audit that are the program's, whatever folder it read."""
