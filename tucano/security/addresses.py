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

_TO_THE_LAST_AT = r"(?:[^@\n]{0,300}@)"
_PASSWORD = rf"((?:^|[\s:])/{{1,2}}[^/?#\s@:\[]*):(?!\d*(?:[/\s]|$)){_TO_THE_LAST_AT}+"
"""User and password before a host. A password may hold any character, @ and blanks too, and nobody can tell where one
ends that was not encoded: all up to the last @ of the line is hidden, be it host and path. `:8080/a@b` is a port.
"""
_DATABASE = (
    r"((?:[Pp][Oo][Ss][Tt][Gg][Rr][Ee]|[Mm][Yy][Ss][Qq][Ll]|[Mm][Aa][Rr][Ii][Aa]|[Oo][Rr][Aa]|[Mm][Ss][Ss][Qq][Ll])"
    rf"[\w+-]{{0,30}}:/{{1,2}}[^/?#\s@:\[]*):{_TO_THE_LAST_AT}+"
)
"""In a database's address it is a password even so: SQLAlchemy reads `user:77/secret@host` as one."""
_TOKEN = rf"((?:[Hh][Tt][Tt][Pp]|[Ww][Ss])[Ss]?:/{{1,2}})[^/?#\s@]+@{_TO_THE_LAST_AT}*"
"""A name alone before an HTTP host is a token; in other addresses (abfs://container@account, postgresql://user@host) it
is none.
"""
_NAME = (
    r"[A-Za-z0-9_.\[\]-]*(?:pass(?:word|wd|phrase)?|pwd?|senha|secret|token|bearer|session(?:[_-]?id)?"
    r"|(?:api|access|account|client|private|secret|shared|signing|subscription)[_-]?key(?:[_-]?id)?"
    r"|credentials?|signature|sig|jwt)"
)
_PARAMETER = (
    rf"((?:^|[?&;#,{{\s])(?:{_NAME}|auth|authorization|key|code|sas)"
    r"(?:\]|\[[^\s&=\[\]]{0,40}\]){0,3}=)[^&;\s]+"
)
"""`?token=…`, `;PWD=…`, `password=…`, `?auth[token]=…`."""
_SIX_BITS = "[A-Za-z0-9+/]"
_COLON = rf"O[g-v]{_SIX_BITS}{{2}}|{_SIX_BITS}[DTjz][o-r]{_SIX_BITS}|{_SIX_BITS}{{2}}[AEIMQUYcgkosw048]6"
"""What base64 makes of three bytes of which one is a colon."""
_ISSUED = (
    r"\b((?:[Bb]earer\s+(?=\S{8})"
    rf"|[Bb]asic\s+(?=(?:{_SIX_BITS}{{4}}){{1,75}}(?:{_SIX_BITS}{{2}}(?:=|{_SIX_BITS})=(?!\w)|{_COLON})"
    rf"|(?:{_COLON}){_SIX_BITS}{{4}})"
    r"|(?:hf_|api_org_|gh[opsru]_|github_pat_|gsk_|xai-|r8_|pplx-|fw_|csk-|jina_|tgp_v1_|lsv2_[ps][kt]_"
    r"|[rs]k_(?:live|test)_|npm_|dop_v1_|shpat_)(?=[A-Za-z0-9]{20})"
    r"|(?:nvapi-|tvly-|GOCSPX-|dckr_pat_|hvs\.|pypi-AgEI)(?=[\w-]{24})|whsec_(?=\S{20})|SG\.(?=[\w-]{22}\.)"
    r"|dapi(?=[0-9a-f]{32}(?!\w))|sk-(?=[\w-]{16})(?=[A-Za-z_-]{0,60}\d)|glpat-(?=[\w-]{16})|xox[abpr]-(?=[\w-]{10})"
    r"|A[KS]IA(?=[0-9A-Z]{16})|AIza(?=[\w-]{30})|ya29\.(?=[\w-]{16})|eyJ(?=[\w-]{5,300}\.eyJ)))[\w.~+/=-]+"
)
"""Keys that their makers have marked, JSON web tokens, and user and password as HTTP sends them."""
_PEM = r"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)[\s\S]+?(?=-----END|$)"
_BARE = r"^(\s*[^\s/:@]+):[^\s/]+@(?=[^\s@]+\s*$)"
"""`user:password@host` without a scheme, and nothing else."""

SECRET = "|".join((_PASSWORD, _DATABASE, _TOKEN, _PARAMETER, _ISSUED, _PEM))
"""A secret in an address, for JSON schemas too: no flags."""

_SECRETS = {re.compile(pattern, flags): shown for pattern, shown, flags in (
    (_PASSWORD, r"\1:***@", 0), (_DATABASE, r"\1:***@", 0), (_TOKEN, r"\1***@", 0), (_BARE, r"\1:***@", 0),
    (_PARAMETER, r"\1***", re.IGNORECASE), (_ISSUED, r"\1***", 0), (_PEM, r"\1***", 0),
)}  # fmt: skip
"""Makers write their keys in one way: in any other, `asia…` would be a region."""
_SECRET_NAME = re.compile(_NAME, re.IGNORECASE)
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
_NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)} | {0xFE55: ord(":"), 0xFE6B: ord("@")}
"""The full-width forms, `＠` among them, which programs read as the usual ones."""
_ENCODED = 4
"""So often may an address have been URL-encoded."""


def holds_secret(text: str) -> bool:
    """Whether a text holds an address with a password, token or signature, or a key, URL-encoded or not."""
    readings = [text]
    for _ in range(_ENCODED):
        readings.append(_read(readings[-1]))
    return any(pattern.search(reading) for reading in readings for pattern in _SECRETS)


def masked(text: str) -> str:
    """`text` without the secrets in it: no part of one is left, and a host may go with its password."""
    shown = plain = _hidden(text)
    for _ in range(_ENCODED):
        read = _read(plain)
        plain = _hidden(read)
        shown = shown if plain == read else plain
    return shown


def _read(text: str) -> str:
    """`text` after one decoding."""
    return unquote(text.translate(_NARROW))


def _hidden(text: str) -> str:
    for pattern, shown in _SECRETS.items():
        text = pattern.sub(shown, text)
    return text


def secret_in(values: Any, place: str = "", depth: int = 20) -> str | None:
    """Where in nested plain values a secret stands, like `benchmark.endpoints.0.url`; None where there is none. A name
    that is one itself stands in the answer.

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
    for name, value in items if depth else ():
        inner = f"{place}.{name}".lstrip(".")
        found = inner if holds_secret(str(name)) else secret_in(value, inner, depth - 1)
        if found is not None:
            return found
    return None


def _must_not_be(name: str, value: str) -> bool:
    return not _VARIABLE.fullmatch(value) if name == "key_env" else bool(_SECRET_NAME.fullmatch(name))


def is_http(url: str) -> bool:
    """Whether a text is an http(s) address with a host, and a port that can be one, if any."""
    try:
        parts = urlsplit(url)
        named = parts.port != 0 and bool(parts.hostname)
    except ValueError:
        return False
    return named and parts.scheme in ("http", "https") and not re.search(r"[\s\x00-\x1f\x7f]", url)


def is_external(url: str) -> bool:
    """Whether requests to a URL leave this machine: anything but localhost and loopback addresses."""
    host = urlsplit(url).hostname or ""
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host != "localhost"


def is_foreign(origin: str | None, host: str | None) -> bool:
    """Whether a page of another origin asks, by two headers of a request; programs send no Origin."""
    return origin is not None and origin.partition("://")[2] != host
