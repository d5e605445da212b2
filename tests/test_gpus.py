"""Larger GPUs and two of them: what is asked for, which seeds share a machine, and which process gets which GPU.

No GPU has run any of it: machines are plans, and children are shell scripts.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fake_google
import pytest
import yaml
from test_children import interpreter, job
from test_cli import tucano
from test_elsewhere import VERTEX, Pools, made, run_with
from test_vertex_deploy import PLAN, cloud, command, configured, levels, limits, logged_in  # noqa: F401
from test_vertex_deploy import job as asked_of_google

from deployments.kubernetes.plan import GPU
from deployments.vertex.plan import pool, template
from tasks.plan import _places
from tasks.running.handles import PromptSet
from tasks.train import await_seed
from tucano.artifacts.store import Store
from tucano.errors import SeedGivenUp, UserError
from tucano.profiles import load_profile
from tucano.requirements.machine import gpus_here, require_space, seeds_on_a_gpu, seeds_together
from tucano.requirements.machines import MACHINES, Machine, of_pool
from tucano.requirements.memory import require_servers_share, share_for_tensors
from tucano.settings import PipelineSettings
from tucano.training.foresight.forecast import _Run
from tucano.training.launch import run_job
from tucano.training.orders import JobFolders, order
from tucano.training.samplers.server import ServerPlan

ROOT = Path(__file__).parent.parent
ELSEWHERE = "execution.seeds=seed/vertex-h100"
VLLM = ("grpo.sampler=vllm", "worker.vllm_python=python")


def l4_v5(*changed: str) -> PipelineSettings:
    """A profile for a GPU with the seeds 42, 123 and 456."""
    return load_profile(ROOT, "l4-v5", changed)


@pytest.mark.parametrize(
    ("gpu", "gpus", "machine", "accelerator", "quota", "name"),
    [
        ("l4", 2, "g2-standard-24", 11, "l4", "vertex-l4x2"),
        ("a100", 1, "a2-highgpu-1g", 8, "a100", "vertex-a100"),
        ("a100-80gb", 2, "a2-ultragpu-2g", 9, "a100_80gb", "vertex-a100-80gbx2"),
        ("h100", 1, "a3-highgpu-1g", 13, "h100", "vertex-h100"),
    ],
)
def test_a_machine_has_so_many_of_that_gpu(
    cloud: Any, gpu: str, gpus: int, machine: str, accelerator: int, quota: str, name: str  # noqa: F811
) -> None:  # fmt: skip
    """Accelerators by the numbers of Google's AcceleratorType."""
    plan = replace(PLAN, gpu=gpu, gpus=gpus)
    spec = asked_of_google(configured(plan)).worker_pool_specs[0].machine_spec
    assert (spec.machine_type, spec.accelerator_type, spec.accelerator_count) == (machine, accelerator, gpus)
    assert (pool(plan).name, pool(plan).like) == (name, "vertex-l4")
    assert plan.environment["TUCANO_MACHINE"] == f"{machine} spot us-central1"
    assert of_pool(template(plan)) == replace(MACHINES[gpu], gpus=gpus)
    asked = fake_google.QUOTA.format(project="shop").replace("nvidia_l4", f"nvidia_{quota}")
    for limit, level in ((gpus - 1, "fails"), (gpus, "ok"), (-1, "ok")):
        cloud.replies[asked] = limits({"effectiveLimit": str(limit)})
        assert levels(plan)["quota"] == level


def test_what_google_does_not_sell_is_one_sentence() -> None:
    refused = command("--gpu", "h100", "--gpus", "2", "--provisioning", "on-demand", "--dry-run")
    assert refused.returncode == 2
    assert "Google sells a3-highgpu-2g as spot and flex-start alone; choose one with --provisioning" in refused.stderr
    assert "invalid choice: 3 (choose from 1, 2)" in command("--gpus", "3").stderr
    shown = command("--gpu", "h100", "--gpus", "2", "--dry-run").stdout
    assert "a3-highgpu-2g with two NVIDIA_H100_80GB, spot" in shown


def test_a_job_in_a_cluster_gets_two_gpus_of_gkes_name() -> None:
    shown = tucano("deploy", "kubernetes", "--image", "train:7", "--gpu", "a100", "--gpus", "2", "--dry-run").stdout
    pod = yaml.safe_load(shown)["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {"cloud.google.com/gke-accelerator": "nvidia-tesla-a100"}
    (container,) = pod["containers"]
    assert container["resources"]["requests"] == {"cpu": "12", "memory": "48Gi", GPU: "2"}
    assert container["resources"]["limits"] == {GPU: "2"}
    assert of_pool(pod) == replace(MACHINES["a100"], gpus=2)


def test_as_many_seeds_share_a_run_as_a_gpu_machine_trains_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = l4_v5(ELSEWHERE, "worker.parallel=2")
    assert [seeds_together(settings, seed) for seed in (42, 123, 456)] == [(42, 123), (42, 123), (456,)]
    assert [*seeds_together(l4_v5(ELSEWHERE), 123)] == [123]
    assert [*seeds_together(load_profile(ROOT, "laptop", ["worker.parallel=2"]), 123)] == [123], "cores are shared"

    asked: list[tuple[str, Any]] = []
    said = "grpo-seed-42/aa grpo-seed-456/cc"

    def artifact_of(run: Any, deployment: str, part: str, parameters: dict[str, Any]) -> str:
        asked.append((part, parameters["seed"]))
        return said

    monkeypatch.setattr("tasks.train.artifact_of", artifact_of)
    monkeypatch.setattr("tasks.train.train_seed.fn", lost)
    store = Store(tmp_path, None)
    run = replace(run_with(store), settings=settings)
    with pytest.raises(SeedGivenUp, match="its run trained the seeds beside it and gave this one up"):
        await_seed.fn(run, PromptSet(made(store, "data")), None, 123, None)
    with pytest.raises(UserError, match="grpo-seed-456/cc"):  # it looks for what was made, which here nobody made
        await_seed.fn(run, PromptSet(made(store, "data")), None, 456, None)
    assert asked == [("seed-42-123", [42, 123]), ("seed-456", 456)]
    said = "dpo-seed-4560-round-2/bb dpo-seed-456-round-12/dd"
    with pytest.raises(UserError, match="dpo-seed-456-round-12/dd"):
        await_seed.fn(run, PromptSet(made(store, "data")), None, 456, None)


def lost(*given: Any) -> Any:
    from tasks.running.run import Untrained

    raise Untrained


@pytest.mark.parametrize(
    ("changed", "gpus", "seeds", "share"),
    [
        ((), 1, 1, 0.9),
        (("worker.parallel=3",), 1, 3, 0.9),
        (("worker.parallel=3",), 2, 2, 0.9),
        (("worker.parallel=2",), 2, 1, 0.9),
        (VLLM, 1, 1, 0.9 * 0.65),
        (VLLM, 2, 1, 0.9),
        ((*VLLM, "worker.parallel=2"), 2, 2, 0.9),
    ],
)
def test_a_gpu_holds_its_part_of_the_seeds_and_a_server_only_where_it_is_alone(
    changed: tuple[str, ...], gpus: int, seeds: int, share: float
) -> None:
    settings = l4_v5(*changed)
    assert seeds_on_a_gpu(settings, gpus) == seeds
    assert share_for_tensors(settings, seeds, gpus) == pytest.approx(share)


def test_servers_of_all_seeds_have_to_fit_into_their_gpu() -> None:
    settings = l4_v5(*VLLM, "worker.parallel=3")
    with pytest.raises(UserError, match=r"3 vLLM servers with worker\.vllm_memory_share=0\.35 .* lower it to 0\.33"):
        require_servers_share(settings, 80 * 10**9, gpus=2)
    require_servers_share(settings, 80 * 10**9, gpus=1)


@pytest.mark.parametrize(
    ("changed", "gpus", "peak_bytes", "fit"),
    [((), 1, 30, 3), ((), 1, 31, 2), ((), 1, 91, 0), (VLLM, 1, 13, 2), (VLLM, 1, 14, 1), (VLLM, 2, 30, 3)],
)
def test_as_many_seeds_fit_as_have_their_peak_together(
    changed: tuple[str, ...], gpus: int, peak_bytes: int, fit: int
) -> None:
    """Of 100 bytes 90 are for tensors, less 35 for each server: 58.5 with one, 27 with two."""
    run = object.__new__(_Run)
    run.settings, run.machine = l4_v5(*changed), Machine("of a hundred bytes", 100, 1.0, 1.0, 1.0, gpus)
    assert run._fitting(peak_bytes, 3) == fit


def test_seeds_side_by_side_are_asked_of_the_machine_that_trains_them(monkeypatch: pytest.MonkeyPatch) -> None:
    pools = {"vertex-h100": template(VERTEX), "vertex-l4": template(VERTEX)}
    monkeypatch.setattr("tasks.plan.get_client", lambda sync_client: nullcontext(Pools(**pools)))

    def asked(*execution: str) -> list[tuple[str | None, int | None]]:
        places = _places(l4_v5(*execution, "worker.parallel=3"))
        return [(place.name if place else None, settings.worker.parallel) for place, settings in places]

    assert asked("execution.seeds=null") == [(None, 3)]
    assert asked(ELSEWHERE) == [(None, 1), ("vertex-h100", 3)]
    assert asked("execution.seeds=seed/vertex-l4", "execution.stages=stage/vertex-l4") == [("vertex-l4", 3)]
    assert asked("execution.seeds=seed/local") == [(None, 3)]


def test_space_is_asked_for_each_round_of_dpo_and_for_the_base_of_each_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """64 MB for an adapter of a million weights: 4 of SFT and GRPO, 3 of each round. A base: 490.8 million, 2 bytes."""
    monkeypatch.setattr("tucano.requirements.machine.adapter_weights", lambda _: 10**6)
    monkeypatch.setattr("tucano.requirements.machine.SPARE_BYTES", 0)
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=0))

    def asked(*changes: str) -> str:
        with pytest.raises(UserError) as refused:
            require_space(tmp_path, l4_v5(*changes))
        return str(refused.value).partition(" GB")[0].rpartition(" ")[2]

    dpo, nf4, here = "dpo.enabled=true", (*VLLM, "model.quantization=nf4"), "execution.seeds=null"
    assert [asked(), asked(dpo), asked(dpo, "dpo.rounds=4")] == ["0.3", "0.4", "1.0"]
    assert [asked(here, *VLLM), asked(here, *nf4), asked(here, *nf4, "worker.parallel=3")] == ["0.3", "1.2", "3.2"]
    assert asked(ELSEWHERE, *nf4, "worker.parallel=3") == "1.2", "that of the preflight alone is written here"


def test_of_several_gpus_each_child_sees_the_one_with_the_fewest_children(tmp_path: Path) -> None:
    """Two at a time, each of which waits for the other one."""
    folders = [tmp_path / name for name in ("one", "two")]
    script = (
        'touch begun; until [ -e ../one/begun ] && [ -e ../two/begun ]; do sleep 0.05; done; '
        'echo "{\\"gpu\\": \\"$CUDA_VISIBLE_DEVICES\\"}" > "$(dirname "$3")/result.json"'
    )  # fmt: skip

    def gpu(folder: Path, *gpus: str) -> Any:
        folder.mkdir(exist_ok=True)
        child = interpreter(folder, f"cd {folder}; {script}")
        return run_job(replace(job(folder), gpus=list(gpus)), child, print)["gpu"]

    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(lambda folder: gpu(folder, "4", "6"), folders)) == ["4", "6"]
    assert gpu(folders[0], "4", "6") == "4", "the others have ended"


def test_with_vllm_the_second_gpu_is_the_servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("nvidia0", "nvidia1", "nvidiactl"):
        (tmp_path / name).touch()
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert gpus_here(tmp_path) == ("0", "1")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,6")
    folders = JobFolders(tmp_path, tmp_path, tmp_path)
    with_vllm, without = (order("grpo", l4_v5(*more), 42, 1, folders) for more in (VLLM, ()))
    assert (with_vllm.gpus, with_vllm.vllm_gpu) == (["4"], "6")
    assert (without.gpus, without.vllm_gpu) == (["4", "6"], None)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4")
    alone = order("grpo", l4_v5(*VLLM), 42, 1, folders)
    assert (alone.gpus, alone.vllm_gpu) == ([], None)
    plan = ServerPlan("python", "base", l4_v5().model, 0, 0.35, 1, tmp_path / "log")
    assert plan.environment("secret")["CUDA_VISIBLE_DEVICES"] == "4", "as its parent's"
    assert replace(plan, gpu="6").environment("secret")["CUDA_VISIBLE_DEVICES"] == "6"
