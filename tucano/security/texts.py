"""Texts among the settings: what ends in a path, in a name of MLflow or Prefect, or in an address is refused here where
they refuse it.

Each refusal is PydanticCustomError: its sentence is put behind the setting's name.
"""

import ipaddress
import re
import unicodedata
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

LONGEST_LINE, LONGEST_PROSE, LONGEST_FILE_NAME = 2000, 2000, 255
LONGEST_HOST = 253
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST = re.compile(rf"(?:{_LABEL}\.)*(?!\d+\.?$){_LABEL}\.?")
"""A name as name services know it; what ends in a number is an IP address."""


def _refuse(sentence: str) -> PydanticCustomError:
    return PydanticCustomError("text", "{sentence}", {"sentence": sentence})


def _line(text: str) -> str:
    """One visible line that may be a path."""
    if not text.strip():
        raise _refuse("it is empty")
    _printable(text, allowed="")
    if len(text) > LONGEST_LINE or any(len(part.encode()) > LONGEST_FILE_NAME for part in text.split("/")):
        raise _refuse(f"it is too long; a file's name has at most {LONGEST_FILE_NAME} bytes")
    return text


def _prose(text: str) -> str:
    """Any text that a person writes."""
    _printable(text, allowed="\n\t")
    return text


def _printable(text: str, allowed: str) -> None:
    for character in text:
        if unicodedata.category(character) in ("Cc", "Cs") and character not in allowed:
            raise _refuse(f"it holds the control character {character!r}")


def _address(text: str) -> str:
    """A URL whose host and port can be read, without blanks around it."""
    text = text.strip()
    try:
        urlsplit(_line(text)).port  # noqa: B018  # reading it is the check
    except ValueError as error:
        raise _refuse(f"it is no address: {error}") from None
    return text


def _base_url(text: str) -> str:
    text = _address(text)
    url = urlsplit(text)
    if url.scheme not in ("http", "https") or url.port == 0 or url.query or url.fragment or not _has_host(text):
        raise _refuse("it is no http(s)://host/path without a query; write it like https://api.openai.com/v1")
    return text


def _has_host(url: str) -> bool:
    """Whether the HTTP client and the name service take a URL's host; either would raise at the first request."""
    import httpx  # takes as long to import as all settings

    try:
        parsed = httpx.URL(url)
        host = parsed.host  # reading it is a check too
        sent = parsed.raw_host.decode("ascii")
    except (httpx.InvalidURL, ValueError):
        return False
    try:
        return bool(ipaddress.ip_address(host))
    except ValueError:
        return len(sent) <= LONGEST_HOST and bool(_HOST.fullmatch(sent))


def _matching(pattern: str, sentence: str) -> AfterValidator:
    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise _refuse(sentence)
        return text

    return AfterValidator(check)


_NAME = _matching(
    r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}", "a name has letters of a to z, digits, - and _, at most 100 in all"
)
_ARM = _matching(r"[a-z0-9][a-z0-9._-]{0,63}", "an arm's name has small letters, digits, - . and _, at most 64 in all")
_DEPLOYMENT = _matching(r"[^/]+/[^/]+", "write it as FLOW/DEPLOYMENT, like seed/local")

Line = Annotated[str, AfterValidator(_line)]
Prose = Annotated[str, Field(max_length=LONGEST_PROSE), AfterValidator(_prose)]
Address = Annotated[str, AfterValidator(_address)]
BaseUrl = Annotated[str, AfterValidator(_base_url)]
Name = Annotated[str, _NAME]
ArmName = Annotated[str, _ARM]
DeploymentName = Annotated[Line, _DEPLOYMENT]
