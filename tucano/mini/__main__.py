"""Make mini from nothing: `python -m tucano.mini` (or `make base`).

About an hour on two cores. An interrupted run goes on where it was.
"""

import argparse
import shutil
from pathlib import Path
from time import strftime

import torch

from tucano.artifacts.identity import SHIPPED
from tucano.mini.material import material
from tucano.mini.seal import faults, seal
from tucano.mini.training import Recipe, train

THREADS = 2
"""Sums depend on how they are divided: the same number everywhere."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tucano.mini", description=__doc__)
    parser.add_argument("--work", type=Path, default=Path("runs/mini"), help="checkpoints (default: %(default)s)")
    parser.add_argument("--ship", action="store_true", help="put the model into the package and seal it")
    chosen = parser.parse_args()
    torch.set_num_threads(THREADS)
    recipe = Recipe()
    chosen.work.mkdir(parents=True, exist_ok=True)
    examples = material(recipe.examples)
    print(f"{len(examples)} examples", flush=True)
    made = train(examples, recipe, chosen.work, lambda text: print(f"{strftime('%H:%M:%S')}  {text}", flush=True))
    if chosen.ship:
        shutil.rmtree(SHIPPED["mini"], ignore_errors=True)
        shutil.copytree(made, SHIPPED["mini"])
        seal(made)
    differing = faults(made)
    print(f"the model is in {made}; " + ("; ".join(differing) if differing else "its files are those that are shipped"))
    if differing == ["model.safetensors differs"]:
        print(
            "Another kind of processor may round otherwise (docs/mini.md): compare two that were made on one machine."
        )


if __name__ == "__main__":
    main()
