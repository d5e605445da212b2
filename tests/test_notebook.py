"""The notebook for analysts: its cells run, in their order, and find what the comparison says."""

import json
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import pytest
from storages import SEEDS, Finished, finished

NOTEBOOK = Path(__file__).parent.parent / "examples" / "analysis.ipynb"
CELLS = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
CODE = [cell for cell in CELLS if cell["cell_type"] == "code"]
LONGEST = 16
"""Lines of a cell."""


def test_it_is_committed_without_outputs_and_in_short_cells() -> None:
    assert all((cell["outputs"], cell["execution_count"]) == ([], None) for cell in CODE)
    assert max(len(cell["source"]) for cell in CODE) <= LONGEST


def test_its_cells_find_what_the_comparison_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gains = {"extraction": 0.12, "sql_qa": 0.01, "insights": 0.09, "push": 0.06}
    finished(tmp_path, Finished([], gains))
    monkeypatch.setenv("TUCANO_STORAGE", str(tmp_path))
    matplotlib.use("Agg")
    names: dict[str, Any] = {}
    try:
        for cell in CODE:
            exec("".join(cell["source"]), names)
        assert len(plt.get_fignums()) == 3
    finally:
        plt.close("all")
    effect, seeds, curves = names["comparison"].main.overall, names["seeds"], names["curves"]
    assert names["points"]["difference"].mean() == pytest.approx(effect.gain)
    assert seeds["mean"].mean() == pytest.approx(effect.gain)
    assert (seeds["low"] < seeds["mean"]).all() and (seeds["mean"] < seeds["high"]).all()
    assert (*curves.columns,) == SEEDS and curves.index.max() == 60 and not curves.isna().to_numpy().any()
