"""What became of each stage that a rehearsal tried: what its file tells."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Tried:
    """One stage. `left_out` says why it was not tried to its end, `peak_gib` what its child held of a GPU at most."""

    stage: str
    on_gpu: bool
    seconds: float = 0.0
    peak_gib: float | None = None
    left_out: str = ""
    reused: bool = False
    faults: list[str] = field(default_factory=list)
