"""Requests to a Prefect server without Prefect's client, which takes seconds to import and then reads its address."""

import json
import os
import secrets
import urllib.request
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError

from tucano.errors import UserError
from tucano.security.access import basic
from tucano.security.addresses import is_http
from tucano.security.printable import short

BROKEN = 500
"""From this status on it is the server, or what stands before it, that cannot answer."""


@dataclass(frozen=True)
class PrefectApi:
    """The API below `page` (like http://127.0.0.1:4200), for who knows its credentials."""

    page: str
    known: str

    def ask(self, path: str, body: object = None, seconds: float = 10) -> Any:
        """The answer to a GET, or to a POST of `body`. OSError where it is refused or takes longer."""
        data, headers = None, {"Authorization": basic(self.known)}
        if body is not None:
            client = secrets.token_hex(8)
            token = self.ask(f"csrf-token?client={client}", seconds=seconds)["token"]
            headers |= {"Content-Type": "application/json", "Prefect-Csrf-Client": client, "Prefect-Csrf-Token": token}
            data = json.dumps(body).encode()
        request = urllib.request.Request(f"{self.page}/api/{path}", data, headers)
        with urllib.request.urlopen(request, timeout=seconds) as answer:
            return json.loads(answer.read() or b"null")


def require_server() -> None:
    """UserError where no server is named that work pools could be made on, or the password for it is not known."""
    if not os.environ.get("PREFECT_API_URL"):
        raise UserError(
            "PREFECT_API_URL is not set: it names the Prefect server that the work pool is made on (tucano up"
            " prints it)"
        )
    require_login()


def require_address() -> None:
    """UserError where PREFECT_API_URL is set to what is no address: Prefect would not even be imported."""
    url = os.environ.get("PREFECT_API_URL", "")
    if url and not is_http(url):
        raise UserError(
            f"PREFECT_API_URL={short(url)!r} is no http(s) address; write it like http://127.0.0.1:4200/api (tucano up"
            " prints the server's), or unset it"
        )


def require_login() -> None:
    """UserError where the server that PREFECT_API_URL names does not answer, or wants a password that the environment
    does not hold.
    """
    require_address()
    url, known, key = (os.environ.get(f"PREFECT_API_{name}", "") for name in ("URL", "AUTH_STRING", "KEY"))
    headers = {"Authorization": basic(known) if known else f"Bearer {key}"} if known or key else {}
    try:
        urllib.request.urlopen(urllib.request.Request(f"{url}/admin/version", headers=headers), timeout=10).close()
    except HTTPError as error:
        if error.code in (401, 403):
            raise UserError(
                f"PREFECT_API_URL={short(url)} wants a password; set PREFECT_API_AUTH_STRING (docs/operations.md says"
                " where ours is)"
            ) from None
        if error.code >= BROKEN:
            raise UserError(_silent(url, f"it says {error.code}")) from None
    except (OSError, HTTPException, ValueError) as error:
        raise UserError(_silent(url, str(getattr(error, "reason", error)))) from None


def _silent(url: str, why: str) -> str:
    return (
        f"PREFECT_API_URL={short(url)} does not answer ({short(why)}); start that server (tucano up; tucano status says"
        " whether ours is healthy), correct the address, or unset it"
    )
