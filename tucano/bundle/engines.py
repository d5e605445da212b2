"""Whose code makes each stage of a bundle, and what version of it is here."""

from tucano.artifacts.code_version import code_version
from tucano.bundle.reading import SEED_STAGE, Contents
from tucano.errors import UserError
from tucano.security.printable import short
from tucano.training.jobs import MODULES

ENGINES = {
    "data": "data.prepare",
    "plan": "tucano.comparison.plan",
    "audit": "tucano.audit.stage",
    "sft": MODULES["sft"],
    "preflight": MODULES["preflight"],
    "answers": MODULES["answer"],
    "re-audit": "tucano.audit.reaudit_table",
    "comparison": "tucano.comparison.compare",
    "merged": MODULES["merge"],
    "report": "tucano.report.report",
    "public-set": "data.public.prepare",
    "public-answers": MODULES["public"],
    "public": "tucano.benchmark.public.result",
}
"""The code of the seeds is GRPO's."""


def code_there(contents: Contents, stage: str) -> str:
    """What the stage's artifact says that it was made by."""
    return str(contents.made(stage)["code"])


def code_here(stage: str) -> str:
    if stage.startswith(SEED_STAGE):
        return code_version(MODULES["grpo"])
    if stage not in ENGINES:
        raise UserError(f"{short(stage)} is no stage that a bundle of this version has")
    return code_version(ENGINES[stage])
