"""Addresses that people give: whether one holds a secret, how it is shown without it, and whether it leads off this
machine.

Settings and addresses are written into reports, databases and logs, so credentials never stand in them: they come from
the environment.
"""

import ipaddress
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

_PASSWORD = r"((?:^|[\s:])/{1,2}[^/?#\s@:\[]*):(?!\d*(?:[/\s]|$))[^@\n]{0,300}@(?:[^/?#\s@]*@)*"
"""User and password before a host. A password may hold any character, so it goes on to the next @, and further where
the host would hold one; `:8080/a@b` is a port.
"""
_DATABASE = (
    r"((?:[Pp][Oo][Ss][Tt][Gg][Rr][Ee]|[Mm][Yy][Ss][Qq][Ll]|[Mm][Aa][Rr][Ii][Aa]|[Oo][Rr][Aa]|[Mm][Ss][Ss][Qq][Ll])"
    r"[\w+-]*:/{1,2}[^/?#\s@:\[]*):[^@\n]{1,300}@"
)
"""In a database's address it is a password even so: SQLAlchemy reads `user:77/secret@host` as one."""
_TOKEN = r"((?:[Hh][Tt][Tt][Pp]|[Ww][Ss])[Ss]?:/{1,2})[^/?#\s@]+@"
"""A name alone before an HTTP host is a token; in other addresses (abfs://container@account, postgresql://user@host) it
is none.
"""
_NAME = (
    r"[A-Za-z0-9_.-]*(?:pass(?:word|wd|phrase)?|pwd?|senha|secret|token|bearer|session(?:[_-]?id)?"
    r"|(?:api|access|account|client|private|secret|shared|signing|subscription)[_-]?key(?:[_-]?id)?"
    r"|credentials?|signature|sig|jwt)"
)
_PARAMETER = rf"((?:^|[?&;#,{{\s])(?:{_NAME}|auth|authorization|key|code|sas)=)[^&;\s]+"
"""`?token=…`, `;PWD=…`, `password=…`."""
_ISSUED = (
    r"\b((?:[Bb]earer\s+(?=\S{8})|sk-(?=[\w-]{16})|hf_(?=\w{20})|gh[opsru]_(?=\w{20})|github_pat_(?=\w{20})"
    r"|glpat-(?=[\w-]{16})|xox[abpr]-(?=[\w-]{10})|AKIA(?=[0-9A-Z]{16})|AIza(?=[\w-]{30})|ya29\.(?=[\w-]{16})))[\w.~+/=-]+"
)
"""Keys that their makers have marked."""
_BARE = r"^(\s*[^\s/:@]+):[^\s/@]+@(?=[^\s@]+\s*$)"
"""`user:password@host` without a scheme, and nothing else."""

SECRET = "|".join((_PASSWORD, _DATABASE, _TOKEN, _PARAMETER, _ISSUED))
"""A secret in an address, for JSON schemas too: no flags."""

_SECRETS = {re.compile(pattern, re.IGNORECASE): shown for pattern, shown in (
    (_PASSWORD, r"\1:***@"), (_DATABASE, r"\1:***@"),
    (_TOKEN, r"\1***@"), (_PARAMETER, r"\1***"), (_ISSUED, r"\1***"), (_BARE, r"\1:***@"),
)}  # fmt: skip
_SECRET_NAME = re.compile(_NAME, re.IGNORECASE)
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")


def holds_secret(text: str) -> bool:
    """Whether a text holds an address with a password, token or signature, URL-encoded or not."""
    return any(pattern.search(one) for pattern in _SECRETS for one in (text, unquote(text)))


def masked(text: str) -> str:
    """`text` without the secrets of the addresses in it."""
    shown = _hidden(text)
    plain = unquote(shown)
    return shown if _hidden(plain) == plain else _hidden(plain)


def _hidden(text: str) -> str:
    for pattern, shown in _SECRETS.items():
        text = pattern.sub(shown, text)
    return text


def secret_in(values: Any, place: str = "", depth: int = 20) -> str | None:
    """Where in nested plain values a secret stands, like `benchmark.endpoints.0.url`; None where there is none.

    Under a name like `api_key` any text is one, and under `key_env` all but the name of a variable. Nothing is deeper
    than `depth`.
    """
    if isinstance(values, str):
        return place if values and (holds_secret(values) or _must_not_be(place.rpartition(".")[2], values)) else None
    if isinstance(values, Mapping):
        items = list(values.items())
    elif isinstance(values, list | tuple):
        items = list(enumerate(values))
    else:
        return None
    inner = (secret_in(value, f"{place}.{name}".lstrip("."), depth - 1) for name, value in items) if depth else ()
    return next((found for found in inner if found is not None), None)


def _must_not_be(name: str, value: str) -> bool:
    return not _VARIABLE.fullmatch(value) if name == "key_env" else bool(_SECRET_NAME.fullmatch(name))


def is_external(url: str) -> bool:
    """Whether requests to a URL leave this machine: anything but localhost and loopback addresses."""
    host = urlsplit(url).hostname or ""
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host != "localhost"
