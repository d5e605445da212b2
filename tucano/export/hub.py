"""A folder sent to a hub that speaks Hugging Face's API, at HF_ENDPOINT where that is set."""

import re
from pathlib import Path

import httpx
import huggingface_hub
from huggingface_hub.utils import HFValidationError, validate_repo_id
from huggingface_hub.utils._http import default_client_factory

from tucano.errors import UserError
from tucano.security.addresses import masked
from tucano.security.printable import short

SILENCE_S = 60.0
"""A hub that says nothing for so long is given up; its library would wait for ever."""
NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)


def require_name(repository: str) -> None:
    """UserError for what is not OWNER/NAME."""
    try:
        validate_repo_id(repository)
        whole = NAME.fullmatch(repository) is not None
    except HFValidationError:
        whole = False
    if not whole:
        raise UserError("a repository is OWNER/NAME, of letters, digits and . _ -, like ana/loja-push")


def endpoint() -> str:
    return masked(huggingface_hub.constants.ENDPOINT)


def token() -> str | None:
    """HF_TOKEN of the environment, or what `hf auth login` has kept."""
    return huggingface_hub.get_token()


def send(folder: Path, repository: str, token: str) -> str:
    """Make the repository, private, where there is none, and put the files there; the address of the commit.

    UserError with what the hub says. What was sent stays: the same command goes on from there.
    """
    huggingface_hub.set_client_factory(_impatient)
    api = huggingface_hub.HfApi(token=token)
    try:
        api.create_repo(repository, private=True, exist_ok=True)
        commit = api.upload_folder(repo_id=repository, folder_path=folder, commit_message="tucano publish")
    except (httpx.HTTPError, OSError, RuntimeError, ValueError) as error:  # its own are kinds of these
        raise UserError(f"{endpoint()} did not take it: {short(str(error), 300)}") from None
    return str(commit.commit_url)


def _impatient() -> httpx.Client:
    client = default_client_factory()
    client.timeout = httpx.Timeout(SILENCE_S)
    return client
