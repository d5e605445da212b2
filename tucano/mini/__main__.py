"""Make mini from nothing: `python -m tucano.mini` (or `make base`).

About an hour on two cores. An interrupted run goes on where it was.
"""

import argparse
import shutil
from pathlib import Path
from time import strftime

import torch

from tucano.mini import FOLDER
from tucano.mini.material import material
from tucano.mini.training import Recipe, train

THREADS = 2
"""Sums depend on how they are divided: the same number everywhere."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tucano.mini", description=__doc__)
    parser.add_argument("--work", type=Path, default=Path("runs/mini"), help="checkpoints (default: %(default)s)")
    parser.add_argument("--to", type=Path, default=FOLDER, help="where the model goes (default: %(default)s)")
    chosen = parser.parse_args()
    torch.set_num_threads(THREADS)
    recipe = Recipe()
    chosen.work.mkdir(parents=True, exist_ok=True)
    examples = material(recipe.examples)
    print(f"{len(examples)} examples", flush=True)
    train(examples, recipe, chosen.work, lambda text: print(f"{strftime('%H:%M:%S')}  {text}", flush=True))
    shutil.rmtree(chosen.to, ignore_errors=True)
    shutil.copytree(chosen.work / "model", chosen.to)
    print(f"the model is in {chosen.to}")


if __name__ == "__main__":
    main()
