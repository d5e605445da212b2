"""Old flow runs in a Prefect database: `python -m deployments.vacuum DAYS [--remove]` prints how many there are, or
were.

A process of its own, because Prefect reads the address of its database when it is imported. Which runs go (top-level
ones that have ended), and what goes with them (logs, artifacts, events), is as in Prefect's own vacuum service, whose
functions are called here. No link of a model's lineage is among them: that stands in the storage and in MLflow.
"""

import argparse
import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy
import sqlalchemy.exc
from prefect.server.database import PrefectDBInterface, provide_database_interface
from prefect.server.schemas.states import TERMINAL_STATES
from prefect.server.services import db_vacuum
from prefect.settings import (
    PREFECT_SERVER_EVENTS_RETENTION_PERIOD,
    PREFECT_SERVER_SERVICES_DB_VACUUM_RETENTION_PERIOD,
    temporary_settings,
)

STEPS: tuple[Callable[..., Coroutine[Any, Any, None]], ...] = (
    db_vacuum.vacuum_old_flow_runs,
    db_vacuum.vacuum_old_flow_runs,  # the runs of seeds are top-level once their pipeline's are gone
    db_vacuum.vacuum_orphaned_logs,
    db_vacuum.vacuum_orphaned_artifacts,
    db_vacuum.vacuum_stale_artifact_collections,
    db_vacuum.vacuum_old_events,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("days", type=int)
    parser.add_argument("--remove", action="store_true")
    arguments = parser.parse_args()
    age = timedelta(days=arguments.days)
    with temporary_settings(
        {PREFECT_SERVER_SERVICES_DB_VACUUM_RETENTION_PERIOD: age, PREFECT_SERVER_EVENTS_RETENTION_PERIOD: age}
    ):
        print(asyncio.run(vacuum(age, arguments.remove)))


async def vacuum(age: timedelta, remove: bool) -> int:
    """How many old flow runs there are; they are gone afterwards where wanted."""
    database = provide_database_interface()
    found = await _old(database, datetime.now(UTC) - age)
    for step in STEPS if remove else ():
        await step(db=database)
    if remove and database.dialect.name == "sqlite":
        engine = await database.engine()
        with suppress(
            sqlalchemy.exc.OperationalError
        ):  # somebody reads it, or the disk is full: it shrinks the next time
            async with engine.connect() as connection:
                await connection.execution_options(isolation_level="AUTOCOMMIT")
                await connection.execute(sqlalchemy.text("VACUUM"))
    return found


async def _old(database: PrefectDBInterface, before: datetime) -> int:
    runs = database.FlowRun
    ended = sqlalchemy.select(sqlalchemy.func.count()).where(
        runs.state_type.in_(TERMINAL_STATES), runs.end_time < before
    )
    async with database.session_context() as session:
        return int((await session.execute(ended)).scalar_one())


if __name__ == "__main__":
    main()
