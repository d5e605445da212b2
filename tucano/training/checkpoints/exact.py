"""Which of its kernels a GPU computes with, so that the same computation gives the same bits.

The attention of cuDNN is left out: it makes a plan for every new length (1.4 ms per layer and token on an H200, where
the kernel takes .05), and would be chosen on some machines only. `deterministic` is torch's own switch: operations
take their deterministic form, and those without one raise. Where torch may only warn, flash and memory-efficient
attention do not: backwards they add in any order. It says nothing of kernels that others bring: Unsloth's and those of
bitsandbytes are theirs.
"""

import os

import torch


def choose(deterministic: bool, patched: bool) -> None:
    """From now on. patched: whether a library has put kernels of its own in; torch only warns there, since what has no
    deterministic form is not ours to change.
    """
    torch.backends.cuda.enable_cudnn_sdp(False)
    torch.backends.cudnn.benchmark = False
    torch.use_deterministic_algorithms(deterministic, warn_only=patched)
    # a kernel more for each tensor that is made
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


def chosen() -> str:
    """What is chosen, for the record of a training; a run that goes on elsewhere is compared by it."""
    cuda = torch.backends.cuda
    kinds = {
        "flash": cuda.flash_sdp_enabled(),
        "efficient": cuda.mem_efficient_sdp_enabled(),
        "math": cuda.math_sdp_enabled(),
        "cudnn": cuda.cudnn_sdp_enabled(),
    }
    warns = " where torch is strict (warn only)" if torch.is_deterministic_algorithms_warn_only_enabled() else ""
    strict = f"deterministic{warns}" if torch.are_deterministic_algorithms_enabled() else "any order"
    workspace = os.environ.get("CUBLAS_WORKSPACE_CONFIG", "")
    attention = ", ".join(name for name, on in kinds.items() if on)
    return f"attention {attention}; {strict}; cuBLAS {workspace}; torch {torch.__version__}"
