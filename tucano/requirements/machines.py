"""The GPUs that a run can be foreseen for, by the figures of their makers."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

GIBIBYTE = 2**30
START_SECONDS = 4e-6
"""What even a kernel of a CUDA graph takes: a decode step of 550 in 3.8 ms on an H200."""
HOST_SECONDS = 20e-6
"""From one kernel to the next where Python starts each: that decode step in 12.4 ms."""
REACHED = 0.7
"""Of a maker's figure, by kernels that are large enough (assumed)."""


@dataclass(frozen=True, slots=True)
class Machine:
    """memory_bytes: of one GPU, as its driver says, not as it is sold; the other figures as sold, per second,
    operations in 16 bits and in 32. gpus: how many of them the machine has.
    """

    title: str
    memory_bytes: int
    bytes_per_second: float
    operations_per_second: float
    exact_operations_per_second: float
    gpus: int = 1

    def computing_in(self, dtype: str) -> "Machine":
        """The same with the operations that it makes in this precision."""
        return self if dtype == "bfloat16" else replace(self, operations_per_second=self.exact_operations_per_second)

    def seconds(self, moved_bytes: int, operations: int) -> float:
        """Of one kernel on the GPU, by the slowest of three: its start, its memory, its products (the roofline of
        Williams et al. 2009, section 3). The host, which may be slower than all of them, is counted with a whole piece.
        """
        moving, computing = moved_bytes / self.bytes_per_second, operations / self.operations_per_second
        return max(START_SECONDS, max(moving, computing) / REACHED)


MACHINES = {
    "l4": Machine("NVIDIA L4", 23_034 * 2**20, 300e9, 121e12, 30.3e12),
    "l40s": Machine("NVIDIA L40S", 46_068 * 2**20, 864e9, 362e12, 91.6e12),
    "4090": Machine("NVIDIA 4090", 24_564 * 2**20, 1008e9, 165.2e12, 82.6e12),
    "a100": Machine("NVIDIA A100 40 GB", 40_960 * 2**20, 1555e9, 312e12, 19.5e12),
    "a100-80gb": Machine("NVIDIA A100 80 GB", 81_920 * 2**20, 2039e9, 312e12, 19.5e12),
    "h100": Machine("NVIDIA H100 80 GB SXM", 81_559 * 2**20, 3350e9, 989e12, 66.9e12),
    "h200": Machine("NVIDIA H200 141 GB", 143_771 * 2**20, 4800e9, 989e12, 66.9e12),
}
"""In bfloat16 without sparsity and in float32: data sheets of the L4 (2023), L40S (2023), A100 (2020 and 2021), H100
(2022) and H200 (2024), and for the RTX 4090 NVIDIA's paper on the Ada architecture (2022).
"""
ACCELERATORS = {
    "nvidia-l4": "l4",
    "nvidia-tesla-a100": "a100",
    "nvidia-a100-80gb": "a100-80gb",
    "nvidia-h100-80gb": "h100",
    "nvidia-h200-141gb": "h200",
}
"""By Google's names, which its Kubernetes shares; Vertex AI writes them like NVIDIA_L4."""

FAMILIES = {
    "g2-standard": "l4",
    "a2-highgpu": "a100",
    "a2-ultragpu": "a100",
    "a3-highgpu": "h100",
    "a3-ultragpu": "h200",
}
"""The GPUs of Google's machine types, whose last part is a size, like g2-standard-8."""


def of_device(name: str, memory_bytes: int) -> Machine | None:
    """The GPU that a driver calls `name`, like "NVIDIA A100-SXM4-80GB"; of two of a name the one with about as much
    memory.
    """
    words = re.split(r"[ -]", name)
    known = [machine for machine in MACHINES.values() if machine.title.split()[1] in words]
    return min(known, key=lambda machine: abs(machine.memory_bytes - memory_bytes), default=None)


def names_gpu(machine: str, gpu: str) -> bool:
    """Whether a machine's name has this GPU in it, or is that of a type that holds it."""
    words = machine.lower().split()
    return gpu.lower() in [*words, *(FAMILIES.get(word.rpartition("-")[0]) for word in words)]


def of_pool(template: Mapping[str, Any]) -> Machine | None:
    """The GPU that a work pool's job template names, with how many of them a job has; None where it names none, or one
    whose figures are not here.
    """
    text = json.dumps(template)
    named = re.search(r'accelerator(?:_type)?": "([\w-]+)"', text)
    if named is None:
        return None
    known = ACCELERATORS.get(named[1].lower().replace("_", "-"))
    count = re.search(r'(?:accelerator_count|nvidia\.com/gpu)": "?(\d+)', text)
    return replace(MACHINES[known], gpus=int(count[1]) if count else 1) if known else None
