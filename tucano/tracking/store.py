"""Where runs are tracked, and a client for that place that fails early, in one sentence and within seconds."""

from __future__ import annotations

import functools
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from tucano.errors import Transient, UserError
from tucano.security.access import withhold_from
from tucano.security.addresses import holds_secret, is_http, masked
from tucano.security.printable import short
from tucano.storage.folder import is_remote
from tucano.storage.root import require_usable, require_whole, working_copy
from tucano.tracking.moved import follow
from tucano.tracking.unfinished import make_whole

if TYPE_CHECKING:
    from mlflow import MlflowClient

log = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")

ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
}
"""Set before mlflow is imported, unless the user has set them. By default mlflow retries a dead server for 246
seconds.
"""

CONNECT_SECONDS = 5
RETRY_SECONDS = 3.0
PAGE = 500
PATIENCE_SECONDS = 180.0
"""A server that is restarted is back by then."""
LOGIN = (
    "set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD in the environment (docs/operations.md says where ours"
    " are)"
)
DATABASES = ("sqlite", "postgresql", "mysql", "mssql")


def default_uri(storage: Path) -> str:
    """The SQLite store under a storage root. UserError for a path that an address cannot hold."""
    require_usable(storage)
    return f"sqlite:///{storage.resolve()}/mlflow/mlflow.db"


def artifact_root(storage: Path) -> Path:
    """Where a store without a server of its own keeps files."""
    return storage.resolve() / "mlflow" / "artifacts"


def settle(storage: Path) -> None:
    """Make the storage's own store fit for use where the storage is now, if it is there. UserError when it is
    damaged.
    """
    database = Path(default_uri(storage).removeprefix("sqlite:///"))
    require_whole(
        database, "what runs have measured and the model registry; no artifact, and runs register anew what they need"
    )
    if database.is_file():
        follow(database, artifact_root(storage))


def named(uri: str | None) -> str | None:
    """The store that is named, in the settings (`uri`) or else in the environment; None where it is the storage's
    own.
    """
    return uri or os.environ.get("MLFLOW_TRACKING_URI")


def require_registry(storage: str, uri: str | None) -> None:
    """UserError where the storage's own store would be asked and there is none: asking would make an empty one."""
    if not has_store(storage, uri) and not is_remote(storage):
        raise UserError(
            f"storage={storage} holds no runs, so no model is registered there; name the one that a run wrote with"
            " --set storage=FOLDER, or train one first: tucano run laptop"
        )


def has_store(storage: str, uri: str | None) -> bool:
    """Whether a store is named, or the storage has its own."""
    own = Path(default_uri(working_copy(storage)).removeprefix("sqlite:///"))
    return named(uri) is not None or own.is_file()


def is_server(uri: str) -> bool:
    return uri.lower().startswith(("http://", "https://"))


def require_store_address(uri: str) -> None:
    """UserError for an address at which no store can be. Nothing is asked there."""
    if is_server(uri) and not is_http(uri):
        raise UserError(f"tracking_uri={short(uri)} is no address with a host; correct it or leave it empty")
    if is_server(uri) and holds_secret(uri):
        raise UserError(
            "MLFLOW_TRACKING_URI holds a password or token, and a server's address stands in links: "
            "give them as MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or as MLFLOW_TRACKING_TOKEN"
        )
    scheme = uri.partition(":")[0].lower()
    if not is_server(uri) and scheme.partition("+")[0] not in DATABASES:
        raise UserError(
            f"tracking_uri={masked(uri)} is neither http(s)://… nor a database like sqlite:///…; correct it or leave it"
            " empty"
        )
    if scheme.startswith("sqlite") and "/" in uri.partition("?")[2]:
        raise UserError(f"tracking_uri={masked(uri)} has '?' in its path, where its options begin; name another folder")


def open_client(uri: str) -> MlflowClient:
    """A client of the store at `uri`; a new database is created and migrated. UserError when it does not answer."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    require_store_address(uri)
    # with a traceback it logs what it raises as well
    logging.getLogger("mlflow.store.db.utils").setLevel(logging.CRITICAL)
    if is_server(uri):
        withhold_from(uri)
    else:
        _check_database(uri)
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException

    try:
        client = MlflowClient(uri, registry_uri=uri)
        client.search_experiments(max_results=1)
    except MlflowException as error:
        if error.get_http_status_code() in (401, 403):
            raise UserError(f"tracking_uri={masked(uri)} wants a login; {LOGIN}") from error
        raise UserError(_unreachable(uri, error)) from error
    return client


def translated(call: Callable[P, R]) -> Callable[P, R]:
    """A store that does not answer is asked again for PATIENCE_SECONDS, then that is `Transient`. Other errors pass."""

    @functools.wraps(call)
    def calling(*args: P.args, **kwargs: P.kwargs) -> R:
        from mlflow.exceptions import MlflowException
        from requests.exceptions import RequestException

        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return call(*args, **kwargs)
            except (MlflowException, RequestException) as error:
                if isinstance(error, MlflowException) and error.get_http_status_code() < 500:
                    raise
                if time.monotonic() >= deadline:
                    raise Transient(f"the tracking store did not answer: {reason(error)}") from error
                log.warning("MLflow does not answer, asked again in %.0f s: %s", RETRY_SECONDS, reason(error))
            time.sleep(RETRY_SECONDS)

    return calling


def recording(call: Callable[P, None]) -> Callable[P, None]:
    """What only records must not stop a pipeline: where the store refuses twice, the log says what it lacks."""

    @functools.wraps(call)
    def calling(*args: P.args, **kwargs: P.kwargs) -> None:
        from mlflow.exceptions import MlflowException
        from requests.exceptions import RequestException

        for pause in (RETRY_SECONDS, 0.0):
            try:
                return call(*args, **kwargs)
            except (MlflowException, RequestException) as error:
                log.warning("MLflow did not take %s: %s", call.__name__.replace("_", " "), reason(error))
            time.sleep(pause)

    return calling


def paged(search: Callable[..., Any], *given: Any, **which: Any) -> Iterator[Any]:
    """All that a search of MLflow's finds, page after page."""
    token: str | None = None
    while token != "":
        page = search(*given, **which, max_results=PAGE, page_token=token)
        yield from page
        token = page.token or ""


def texts(tags: Mapping[str, object]) -> dict[str, str]:
    """Tags as MLflow stores them; None is no tag."""
    return {key: str(value) for key, value in tags.items() if value is not None}


def _file_of(uri: str) -> Path | None:
    """The file of a SQLite database; None for other databases, one in memory, and `file:`, an address in itself."""
    path = uri.removeprefix("sqlite:///").partition("?")[0] if uri.startswith("sqlite:///") else ""
    return Path(path) if path and not path.startswith((":", "file:")) else None


def _check_database(uri: str) -> None:
    """mlflow tries a dead database for minutes, so it is asked here first."""
    from mlflow.exceptions import MlflowException
    from sqlalchemy import create_engine, inspect
    from sqlalchemy.exc import SQLAlchemyError

    arguments = {} if uri.startswith(("sqlite", "mssql")) else {"connect_timeout": CONNECT_SECONDS}
    try:
        if file := _file_of(uri):
            make_whole(file)
        engine = create_engine(uri, connect_args=arguments)
        inspect(engine).get_table_names()
        engine.dispose()
    except (MlflowException, SQLAlchemyError, ImportError, OSError) as error:
        raise UserError(_unreachable(uri, error)) from error


def _unreachable(uri: str, error: Exception) -> str:
    return (
        f"tracking_uri={masked(uri)} cannot be used ({reason(error)}); start that server, correct the address, or leave"
        " it empty"
    )


def reason(error: Exception) -> str:
    """The first line of an error, short and without the passwords that addresses in it may hold."""
    line = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
    return masked(line)[:200]
