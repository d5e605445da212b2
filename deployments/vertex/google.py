"""Google's REST interfaces as this program uses them: one call, JSON in and out, with the machine's own credentials."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tucano.security.printable import short

ENDPOINT = "TUCANO_GOOGLE_ENDPOINT"
"""Another address of the services than `https://{service}.googleapis.com`, for private endpoints."""
SCOPE = "https://www.googleapis.com/auth/cloud-platform"
TIMEOUT_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Answer:
    """Status code and JSON of an answer, 0 where there was none; `reason` is Google's sentence where it refused."""

    status: int
    content: dict[str, Any]
    headers: Mapping[str, str]

    @property
    def ok(self) -> bool:
        return self.status == 200

    @property
    def reason(self) -> str:
        error = self.content.get("error")
        message = error.get("message") if isinstance(error, dict) else error
        said = short(str(message or "no reason given"))
        return f"{self.status}: {said}" if self.status else said

    @property
    def is_transient(self) -> bool:
        """Whether the same question may be answered a little later."""
        return self.status in (0, 429) or self.status >= 500


class Google:
    """Calls with the application default credentials (a machine's service account, or a person's gcloud login)."""

    def __init__(self) -> None:
        import google.auth
        from google.auth.transport.requests import AuthorizedSession

        credentials, _ = google.auth.default(scopes=[SCOPE])
        self.session = AuthorizedSession(credentials)

    def get(self, service: str, path: str, host: str | None = None, **headers: str) -> Answer:
        return self._call("GET", service, path, host, headers=headers)

    def post(self, service: str, path: str, body: dict[str, Any]) -> Answer:
        return self._call("POST", service, path, json=body)

    def _call(self, method: str, service: str, path: str, host: str | None = None, **sent: Any) -> Answer:
        from google.auth.exceptions import RefreshError, TransportError
        from requests.exceptions import RequestException

        pattern = os.environ.get(ENDPOINT) or f"https://{host or '{service}.googleapis.com'}"
        url = f"{pattern.format(service=service)}/{path}"
        try:
            answer = self.session.request(method, url, timeout=TIMEOUT_SECONDS, **sent)
        except (RequestException, TransportError, RefreshError) as error:
            if isinstance(error, RefreshError) and not error.retryable:
                raise
            message = f"{urlsplit(url).hostname} cannot be reached ({type(error).__name__}: {error})"
            return Answer(0, {"error": {"message": message}}, {})
        try:
            content = answer.json()
        except ValueError:
            content = {"error": {"message": answer.text[:200]}} if not answer.ok else {}
        return Answer(answer.status_code, content if isinstance(content, dict) else {}, answer.headers)
