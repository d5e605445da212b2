"""The folders of what is measured: answers, reports and verdicts."""

from tucano.files import Files, below


class AnswerFiles(Files):
    """An `Answer` per line, and how each arm reads ordinary Portuguese."""

    answers = below("answers.jsonl")
    language = below("language.jsonl")


class AuditFiles(Files):
    report = below("audit.json")
    page = below("audit.html")
    text = below("audit.txt")


class PlanFiles(Files):
    plan = below("plan.json")


class PreflightFiles(Files):
    text = below("preflight.txt")


class ReauditFiles(Files):
    report = below("re-audit.json")
    text = below("re-audit.txt")


class ComparisonFiles(Files):
    comparison = below("comparison.json")


class PaceFiles(Files):
    paces = below("paces.json")


class BenchmarkFiles(Files):
    result = below("benchmark.json")
    table = below("benchmark.md")


class ReportFiles(Files):
    page = below("report.html")
    settings = below("settings.json")
