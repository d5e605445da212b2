"""What Prometheus reads of a server (`/metrics`)."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


class Metrics:
    """The figures of one server; labels hold names of ours only, never a text of a request."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self.requests = Counter(
            "tucano_requests", "Requests by task and HTTP status.", ["task", "status"], registry=registry
        )
        self.answers = Counter(
            "tucano_answers",
            "Answers by task, who gave them, and whether they are valid.",
            ["task", "by", "valid"],
            registry=registry,
        )
        self.passed_on = Counter(
            "tucano_passed_on",
            "How often somebody in a route did not answer, or not validly.",
            ["task", "by", "why"],
            registry=registry,
        )
        self.seconds = Histogram(
            "tucano_request_seconds", "From a request to its answer.", ["task"], buckets=SECONDS, registry=registry
        )
        self.tokens = Counter("tucano_tokens", "Tokens read and written.", ["by", "way"], registry=registry)
        self.waiting = Gauge("tucano_waiting", "Requests that have no answer yet.", registry=registry)
        self.batch = Histogram("tucano_batch", "Requests that were answered together.", buckets=ROWS, registry=registry)
        self.started = Counter("tucano_model_starts", "Starts of model processes.", ["version"], registry=registry)
        self.serving = Gauge(
            "tucano_serving",
            "1 for the version that a reference stands for now.",
            ["reference", "version"],
            registry=registry,
        )
        self.refused = Counter(
            "tucano_versions_refused", "New versions that could not be served.", ["reference"], registry=registry
        )
        self.not_kept = Counter(
            "tucano_requests_not_kept", "Requests that the request log could not take.", registry=registry
        )
        self.not_traced = Counter(
            "tucano_requests_not_traced", "Requests that MLflow did not take as traces.", registry=registry
        )

    def refuse(self, status: int) -> None:
        """Count a request that was refused, of whatever task."""
        self.requests.labels("-", str(status)).inc()

    def text(self) -> bytes:
        return generate_latest(self._registry)
