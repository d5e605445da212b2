"""Group relative policy optimisation of one seed: the engine around the trainer (tucano/training/grpo_trainer.py)."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import torch
from datasets import Dataset
from transformers import PreTrainedTokenizerBase, TrainerCallback
from trl import GRPOConfig

from rewards import load_reward_set
from tucano.files.models import SeedFiles, WorkFiles
from tucano.files.prompts import PromptFiles
from tucano.prompts import Prompt, messages, read_paraphrases, read_prompts, reworded
from tucano.requirements.machines import of_device
from tucano.requirements.shapes import Shape
from tucano.settings.endpoint import EndpointSettings
from tucano.settings.training.grpo import GrpoStage, TrainerStage
from tucano.storage.journal import JournalWriter
from tucano.thoughts import thinks
from tucano.training.algorithms import chain
from tucano.training.checkpoints import attempts, weights
from tucano.training.checkpoints.beginning import Reporter, begun, shared_arguments
from tucano.training.checkpoints.resumable import settled
from tucano.training.foresight.pieces import Pieces
from tucano.training.grpo_trainer import GrpoMixin, trainer_class
from tucano.training.health import watched
from tucano.training.jobs import Job
from tucano.training.policies.chat import harmless
from tucano.training.policies.load import load_policy
from tucano.training.policies.packed import packs
from tucano.training.policies.reading import Reader
from tucano.training.rollouts.admission import Admitted, Verdict, admitted
from tucano.training.rollouts.clock import Clock
from tucano.training.rollouts.examiner import Examiner
from tucano.training.rollouts.refill import Reserve
from tucano.training.rollouts.scoring import Rewards
from tucano.training.rollouts.teacher import Teacher
from tucano.training.rollouts.wordings import Wordings
from tucano.training.samplers.opening import sampler_for
from tucano.training.validation import Validation

LARGEST_CORRECTION = 2.0
"""Of a token's importance ratio between trainer and sampler (truncated importance sampling: Yao et al. 2025, Your
Efficient RL Framework Secretly Brings You Off-Policy RL Training).
"""


def run(job: Job) -> dict[str, object] | None:
    """Train one seed and write its best adapter into `job.output`; None when interrupted."""
    settings = GrpoStage.model_validate(job.settings)
    work = WorkFiles(Path(job.work))
    files = PromptFiles(Path(job.prompts))
    beginning = begun(job, f"grpo seed {job.seed}")
    journal = beginning.journal
    attempt = beginning.attempt
    watch = watched(journal, settings.health, max(1, settings.grpo.max_steps), beginning.name)
    shown = {"reward/total": "reward", "entropy": "entropy"}
    trainer, examiner = build(job, settings, attempt.drafts, [Reporter(journal, beginning.name, shown)])
    asked = of_tasks(settings, read_prompts(files.validation))
    validation = Validation(
        settings.grpo, examiner, asked, journal, work.best, job.seed, settings.validation_temperature
    )
    trainer.begin(beginning)
    trainer.validation, trainer.watch = validation, watch
    with closing(examiner.sampler):
        if settings.grpo.admission is not None:
            chosen = _chosen(attempt, settings, trainer, examiner, journal)
            chosen.write(SeedFiles(Path(job.output)).admission)
            trainer.draws_from(chosen)
        if not settings.grpo.max_steps:
            validation.look(trainer.model, 0)
        elif not trainer.train_resumable():
            return None
    journal.commit(trainer.state.global_step)
    return {
        "steps": trainer.state.global_step,
        **validation.delivered(trainer.model, SeedFiles(Path(job.output)).adapter),
        "alarms": [asdict(alarm) for alarm in watch.raised.values()],
        "arithmetic": [asdict(one) for one in beginning.arithmetic],
    }


def _chosen(
    attempt: attempts.Attempt, settings: GrpoStage, trainer: GrpoMixin, examiner: Examiner, journal: JournalWriter
) -> Admitted:
    """The prompts of the checkpoint that this attempt goes on from; chosen now where there is none."""
    known = settled(attempt, "admitted")
    if known is not None:
        return Admitted({name: (task, mean, Verdict(found)) for name, (task, mean, found) in known.items()})
    chosen = admitted(settings, trainer.model, examiner, list(trainer.scorer.by_id.values()))
    journal.log(0, chosen.counts())
    return chosen


def of_tasks(settings: TrainerStage, prompts: Sequence[Prompt]) -> list[Prompt]:
    """Those of the tasks that this training is for: all of a run's, or the one of its adapter."""
    return [prompt for prompt in prompts if prompt.task in settings.tasks]


def build(
    job: Job, settings: TrainerStage, output: Path, callbacks: list[TrainerCallback]
) -> tuple[GrpoMixin, Examiner]:
    """A run's trainer, without what keeps it (attempt, journal, validation), and who examines its policy."""
    files = PromptFiles(Path(job.prompts))
    folder = files.folder
    systems = files.systems()
    policy, tokenizer = load_policy(
        settings.model, job.base, Path(job.adapter) if job.adapter else None, trainable=True, seed=job.seed
    )
    prompts = of_tasks(settings, read_prompts(files.train))
    rewards = load_reward_set(settings.grpo.rewards, folder)
    sampler = sampler_for(job, job.base, settings.model.lora_rank, settings.model, settings.grpo)
    most = settings.grpo.max_completion_tokens
    most_thought = settings.grpo.max_think_tokens
    examiner = Examiner(tokenizer, systems, rewards, folder, most, sampler, most_thought)
    scorer = Rewards(rewards, prompts, Reader(tokenizer, most_thought), systems)
    dataset = _dataset(prompts, systems, tokenizer)
    with weights.kept_in_float32(policy):
        trainer = trainer_class()(
            model=policy,
            args=arguments(settings, output, job.save_steps),
            train_dataset=dataset,
            reward_funcs=scorer.functions(),
            processing_class=tokenizer,
            callbacks=callbacks,
        )
    if settings.model.device == "cuda":
        _know_the_gpu(trainer, settings, job.gpu_share)
    trainer.settings, trainer.scorer = settings.grpo, scorer
    trainer.thinking = frozenset(task for task, system in systems.items() if thinks(system))
    trainer.draws_with(sampler)
    if job.teacher is not None:
        trainer.teacher = Teacher(EndpointSettings.model_validate(job.teacher))
        trainer.teacher.require_tokenizer(tokenizer)
    trainer.algorithm, trainer.reserve = chain.from_settings(settings), Reserve(dataset, job.seed)
    further = reworded(prompts, read_paraphrases(files.paraphrases))
    trainer.wordings = Wordings(prompts, further, systems, tokenizer, job.seed) if further else None
    return trainer, examiner


def _know_the_gpu(trainer: GrpoMixin, settings: TrainerStage, share: float) -> None:
    """What its maker says of its speed, and how many activations it has room for beside the longest micro-batch: both
    follow from the settings and the kind of GPU, so that a resumed run does the same.
    """
    shape = Shape.of(trainer.model.get_base_model().config)
    known = torch.cuda.get_device_properties(0)
    machine = of_device(known.name, known.total_memory)
    # by the shape: tensors of 4-bit weights have half as many entries
    trainer.clock = Clock(shape.weights, machine.operations_per_second if machine else 0.0)
    if not trainer.is_unsloths and packs(trainer.model):
        ceiling = settings.grpo.max_completion_tokens
        prompt = settings.model.max_length_tokens - ceiling
        pieces = Pieces(settings.model, shape)
        rows = settings.grpo.micro_batch
        trainer.room, _ = pieces.room(rows, prompt, ceiling, round(share * known.total_memory))


def _dataset(prompts: Sequence[Prompt], systems: dict[str, str], tokenizer: PreTrainedTokenizerBase) -> Dataset:
    chats = harmless(tokenizer, (messages(prompt, systems) for prompt in prompts))
    rows = zip(chats, prompts, strict=True)
    return Dataset.from_list([{"prompt": chat, "prompt_id": p.id, "task": p.task} for chat, p in rows])


def arguments(settings: TrainerStage, drafts: Path, save_steps: int) -> GRPOConfig:
    """Every field that shapes generation or training, explicit: defaults of models, TRL and unsloth differ silently."""
    grpo = settings.grpo
    accumulation = grpo.batch_size // grpo.micro_batch
    return GRPOConfig(
        **shared_arguments(grpo, settings.model, drafts, save_steps, settings.seed),
        max_steps=grpo.max_steps,
        per_device_train_batch_size=grpo.micro_batch,
        gradient_accumulation_steps=accumulation,
        steps_per_generation=accumulation * grpo.rollout_steps,
        num_generations=grpo.generations,
        num_iterations=grpo.iterations,
        max_completion_length=grpo.max_completion_tokens,
        temperature=grpo.temperature,
        top_p=1.0,
        top_k=0,
        min_p=None,
        repetition_penalty=1.0,
        max_grad_norm=grpo.max_grad_norm,
        beta=grpo.beta,
        epsilon=grpo.epsilon,
        epsilon_high=grpo.epsilon_high,
        loss_type=grpo.loss,
        scale_rewards="none",
        multi_objective_aggregation="sum_then_normalize",
        importance_sampling_level=grpo.importance_sampling,
        mask_truncated_completions=grpo.mask_truncated,
        entropy_coef=grpo.entropy_coef,
        use_adaptive_entropy=grpo.entropy_target is not None,
        entropy_target=grpo.entropy_target or 0.0,
        entropy_coef_delta=grpo.entropy_delta,
        entropy_coef_max=grpo.entropy_coef_max,
        disable_dropout=settings.model.lora_dropout == 0,
        shuffle_dataset=True,
        remove_unused_columns=False,
        use_vllm=False,  # TRL would start, own and reach a server in its own way; see GrpoMixin.draws_with
        vllm_importance_sampling_correction=True,
        vllm_importance_sampling_mode="token_truncate",
        vllm_importance_sampling_clip_min=None,
        vllm_importance_sampling_clip_max=LARGEST_CORRECTION,
    )
