"""How often the first computation of a process gives other bits than that of most processes.

    python -m benchmarks.first_bits                    # 3,000 processes as they start, 3,000 as ours start; minutes
    python -m benchmarks.first_bits --processes 60

Each process is a fork of one that has computed nothing, computes with two threads and answers with a digest: of a layer
of a language model (the probe of tucano/training/checkpoints/arithmetic.py) and of each function of MKL's vector
maths that models use. Exits with 1 where a process of ours differs.
"""

import argparse
import hashlib
import os
import sys
from collections import Counter

import torch

from tucano.training.checkpoints import arithmetic

THREADS = 2


def digest() -> str:
    x = torch.linspace(0.05, 0.95, 40_000)
    found = [getattr(torch, name)(x) for name in ("exp", "log", "sin", "cos", "tanh", "erf", "sqrt", "erfinv")]
    functions = hashlib.sha256(torch.cat(found).numpy().tobytes()).hexdigest()[:16]
    return f"{arithmetic.probe('cpu')} {functions}"


def digests(processes: int, warmed: bool) -> Counter[str]:
    """{digest: the number of processes that answered with it}"""
    return Counter(_first(warmed) for _ in range(processes))


def _first(warmed: bool) -> str:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            (arithmetic.compute_with if warmed else torch.set_num_threads)(THREADS)
            os.write(write, digest().encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, encoding="utf-8") as answer:
        said = answer.read()
    os.waitpid(child, 0)
    assert said, "a process ended without an answer"
    return said


def differing(found: Counter[str], usual: str) -> int:
    return found.total() - found[usual]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=3000, metavar="N")
    arguments = parser.parse_args()
    cold, ours = (digests(arguments.processes, warmed) for warmed in (False, True))
    usual = (cold + ours).most_common(1)[0][0]
    as_they_start, as_ours_start = differing(cold, usual), differing(ours, usual)
    print(
        f"of {arguments.processes} processes each: {as_they_start} differ as they start, {as_ours_start} as ours start"
    )
    return 1 if as_ours_start else 0


if __name__ == "__main__":
    sys.exit(main())
