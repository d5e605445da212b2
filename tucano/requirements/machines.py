"""The GPUs that a run can be foreseen for, by the figures of their makers."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

GIBIBYTE = 2**30
LAUNCH_SECONDS = 6e-6
"""From one kernel to the next where Python starts each (assumed; 5 to 10 microseconds are usual)."""
REACHED = 0.7
"""Of a maker's figure, by kernels that are large enough (assumed)."""


@dataclass(frozen=True, slots=True)
class Machine:
    """memory_bytes: as its driver says, not as it is sold; the other figures as sold, per second, operations in 16 bits
    and in 32.
    """

    title: str
    memory_bytes: int
    bytes_per_second: float
    operations_per_second: float
    exact_operations_per_second: float

    def computing_in(self, dtype: str) -> "Machine":
        """The same with the operations that it makes in this precision."""
        return self if dtype == "bfloat16" else replace(self, operations_per_second=self.exact_operations_per_second)

    def seconds(self, moved_bytes: int, operations: int) -> float:
        """Of one kernel, which waits for the slowest of three: its start, its memory, its products (the roofline of
        Williams et al. 2009, section 3).
        """
        moving, computing = moved_bytes / self.bytes_per_second, operations / self.operations_per_second
        return max(LAUNCH_SECONDS, max(moving, computing) / REACHED)


MACHINES = {
    "l4": Machine("NVIDIA L4", 23_034 * 2**20, 300e9, 121e12, 30.3e12),
    "a100": Machine("NVIDIA A100 40 GB", 40_960 * 2**20, 1555e9, 312e12, 19.5e12),
    "h100": Machine("NVIDIA H100 80 GB SXM", 81_559 * 2**20, 3350e9, 989e12, 66.9e12),
}
"""In bfloat16 without sparsity and in float32: data sheets of the L4 (2023), A100 (2020) and H100 (2022)."""
ACCELERATORS = {"nvidia-l4": "l4", "nvidia-tesla-a100": "a100", "nvidia-h100-80gb": "h100"}
"""By Google's names, which its Kubernetes shares; Vertex AI writes them like NVIDIA_L4."""

FAMILIES = {"g2-standard": "l4", "a2-highgpu": "a100", "a3-highgpu": "h100"}
"""The GPUs of Google's machine types, whose last part is a size, like g2-standard-8."""


def names_gpu(machine: str, gpu: str) -> bool:
    """Whether a machine's name has this GPU in it, or is that of a type that holds it."""
    words = machine.lower().split()
    return gpu.lower() in [*words, *(FAMILIES.get(word.rpartition("-")[0]) for word in words)]


def of_pool(template: Mapping[str, Any]) -> Machine | None:
    """The GPU that a work pool's job template names; None where it names none, or one whose figures are not here."""
    named = re.search(r'accelerator(?:_type)?": "([\w-]+)"', json.dumps(template))
    if named is None:
        return None
    known = ACCELERATORS.get(named[1].lower().replace("_", "-"))
    return MACHINES[known] if known else None
