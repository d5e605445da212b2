"""Is the laptop run's gain real? Whole pipelines for several pipeline seeds, and random-reward controls of the same
length.

    python -m benchmarks.laptop_trial --storage runs-trial --seeds 7 8 9

Prints one row per run: overall p, tasks significant after Holm, ground truth, the candidate's own truth (sampled, and
decoded as served), text health relative to the SFT start. The control shares data and SFT with its pipeline, so only
GRPO's reward differs. Takes about four minutes per row on two cores.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from tucano.artifacts.records import read_record
from tucano.comparison.claims import after_holm
from tucano.comparison.compare import Comparison
from tucano.presentation.numbers import p_value

CONTROL = ["grpo.rewards=controls.random"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--storage", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[7, 8, 9])
    parser.add_argument("--set", action="append", default=[], help="passed on to tucano run")
    arguments = parser.parse_args()
    print(
        "| seed | trained on | gain | p | tasks p < .05 after Holm | truth gain, p | candidate's truth (as served) |"
        " distinct-2 | known words | loss |"
    )
    print("|---" * 10 + "|")
    for seed in arguments.seeds:
        for name, extra in (("grounded", []), ("controls.random", CONTROL)):
            print(row(seed, name, run(arguments.storage, [f"seed={seed}", *extra, *arguments.set])), flush=True)


def run(storage: Path, overrides: list[str]) -> Comparison:
    pairs = [part for override in (f"storage={storage}", *overrides) for part in ("--set", override)]
    with (storage.with_suffix(".log")).open("a", encoding="utf-8") as log:
        subprocess.run(
            [sys.executable, "-m", "tucano.cli", "run", "laptop", *pairs], stdout=log, stderr=log, check=True
        )
    newest = max(storage.glob("artifacts/comparison/*/comparison.json"), key=lambda path: path.stat().st_mtime)
    return read_record(Comparison, newest)


def row(seed: int, name: str, comparison: Comparison) -> str:
    main = comparison.main
    tasks = ", ".join(
        f"{task} {p_value(p)}" for task, effect in main.tasks.items() if (p := after_holm(effect.p_holm)) < 0.05
    )
    truth = comparison.find("seeds", comparison.reference, comparison.primary, "truth")
    health = comparison.texts["seeds"].ratio(comparison.texts[comparison.reference])
    cells = [str(seed), name, f"{main.overall.gain:+.3f}", f"{main.overall.p:.2g}", tasks or "none"]
    own = [comparison.truths[decoding][comparison.shown_arm]["overall"] for decoding in (comparison.primary, "served")]
    cells += [
        f"{truth.overall.gain:+.3f}, {truth.overall.p:.2g}" if truth else "-",
        f"{own[0]:.3f} ({own[1]:.3f})",
        *(f"{value:.2f}" if value is not None else "-" for value in health.values()),
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
