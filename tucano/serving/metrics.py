"""What Prometheus reads of a server (`/metrics`)."""

from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


class Metrics:
    """The figures of one server; labels hold names of ours only, never a text of a request."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        counter = partial(Counter, registry=self._registry)
        gauge = partial(Gauge, registry=self._registry)
        histogram = partial(Histogram, registry=self._registry)
        self.requests = counter("tucano_requests", "Requests by task and HTTP status.", ["task", "status"])
        self.answers = counter(
            "tucano_answers", "Answers by task, who gave them, and whether they are valid.", ["task", "by", "valid"]
        )
        self.passed_on = counter(
            "tucano_passed_on", "How often somebody in a route did not answer, or not validly.", ["task", "by", "why"]
        )
        self.seconds = histogram("tucano_request_seconds", "From a request to its answer.", ["task"], buckets=SECONDS)
        self.tokens = counter("tucano_tokens", "Tokens read and written.", ["by", "way"])
        self.waiting = gauge("tucano_waiting", "Requests that have no answer yet.")
        self.batch = histogram("tucano_batch", "Requests that were answered together.", buckets=ROWS)
        self.started = counter("tucano_model_starts", "Starts of model processes.", ["version"])
        self.serving = gauge(
            "tucano_serving", "1 for the version that a reference stands for now.", ["reference", "version"]
        )
        self.refused = counter("tucano_versions_refused", "New versions that could not be served.", ["reference"])
        self.not_kept = counter("tucano_requests_not_kept", "Requests that the request log could not take.")
        self.not_traced = counter("tucano_requests_not_traced", "Requests that MLflow did not take as traces.")

    def refuse(self, status: int) -> None:
        """Count a request that was refused, of whatever task."""
        self.requests.labels("-", str(status)).inc()

    def text(self) -> bytes:
        return generate_latest(self._registry)
