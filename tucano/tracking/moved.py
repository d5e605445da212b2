"""The storage's own MLflow store goes where the storage goes.

MLflow writes down where the files of a run, a model or a trace lie as absolute addresses. In a storage that was moved
or copied they would name a place that is gone, or, worse, one that is still there.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tucano.tracking.views import EXPERIMENTS

ADDRESSES = (
    ("experiments", "artifact_location"),
    ("runs", "artifact_uri"),
    ("logged_models", "artifact_location"),
    ("model_versions", "source"),
    ("model_versions", "storage_location"),
    ("trace_tags", "value"),
)
"""Tables and columns of MLflow's that hold where files lie."""


def follow(database: Path, artifacts: Path) -> None:
    """Let every address in the SQLite file `database` that lay in its former artifact root lie in the folder
    `artifacts`.

    Addresses that only a server understands (`mlflow-artifacts:/3/…`: the experiment was made through one) become plain
    ones as well.
    """
    with closing(sqlite3.connect(database, timeout=20)) as connection, connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'experiments'").fetchone():
            return
        ours = f"SELECT artifact_location FROM experiments WHERE name IN ({', '.join('?' * len(EXPERIMENTS))})"
        roots = {place.rpartition("/")[0] for (place,) in connection.execute(ours, EXPERIMENTS)}
        for former in roots - {artifacts.as_uri()}:
            for table, column in ADDRESSES:
                change = f"UPDATE {table} SET {column} = ? || substr({column}, ?) WHERE substr({column}, 1, ?) = ?"
                begin = f"{former}/"
                connection.execute(change, (f"{artifacts.as_uri()}/", len(begin) + 1, len(begin), begin))
