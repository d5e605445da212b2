"""MLflow's server behind the home's password: `python -m tucano.tracking.server ADDRESS`, for
tucano.security.guard.serve.

It is `mlflow server` without its command line, which has no place for a door: the same app over the store
MLFLOW_BACKEND_STORE_URI and the files in MLFLOW_ARTIFACTS_DESTINATION. Whoever may write the registry decides what the
next run loads. MLflow's own login (`mlflow[auth]`) keeps users in another database, lets routes through that it does
not know, and asks for two more secrets.
"""

import os
import sys

from tucano.security.access import USER
from tucano.security.guard import Guard, serve

REMEMBER = """known => new Promise(done => {
  const colon = known.indexOf(':'), request = new XMLHttpRequest();
  request.open('GET', '/version', true, known.slice(0, colon), known.slice(colon + 1));
  request.onloadend = done;
  request.send();
})"""
"""The browser keeps what an answered challenge was answered with, until it is closed."""


def main() -> None:
    password = os.environ.get("MLFLOW_TRACKING_PASSWORD")
    if not password:
        sys.exit("tucano: no MLflow server without a password; set MLFLOW_TRACKING_PASSWORD")
    from mlflow.server import constants

    store = os.environ["MLFLOW_BACKEND_STORE_URI"]
    proxied = "mlflow-artifacts:/"
    os.environ |= {
        constants.BACKEND_STORE_URI_ENV_VAR: store,
        constants.ARTIFACT_ROOT_ENV_VAR: proxied,
        constants.ARTIFACTS_DESTINATION_ENV_VAR: os.environ["MLFLOW_ARTIFACTS_DESTINATION"],
        constants.SERVE_ARTIFACTS_ENV_VAR: "true",
    }
    from mlflow.server.fastapi_app import app
    from mlflow.server.handlers import initialize_backend_stores

    initialize_backend_stores(store, store, proxied)
    serve(Guard(app, f"{USER}:{password}", lambda path: path == "/health", REMEMBER, challenge=True), sys.argv[1])


if __name__ == "__main__":
    main()
