"""Direct preference optimisation of one seed after GRPO, one round of it (Rafailov et al. 2023, 2305.18290).

    L = -log sigmoid(beta (log p(chosen) / q(chosen) - log p(rejected) / q(rejected)))        (eq. 7)

p is the policy, q the one that GRPO (or the round before) has made, from which p starts; a log-probability is the sum
over an answer's tokens. Loss and metrics are TRL's. Ours are the pairs (`ranked_pairs`, and those that people
preferred), the looks at GRPO's validation set, which keep the best adapter (at first that of q), and exact checkpoints.
What was left out: other losses of TRL's trainer, and reference log-probabilities computed beforehand (a file of TRL's
that no checkpoint knows).
"""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

from datasets import Dataset
from peft import PeftModel
from transformers import PreTrainedTokenizerBase
from trl import DPOConfig, DPOTrainer

from rewards import load_reward_set
from tucano.files.models import SeedFiles
from tucano.files.prompts import PromptFiles
from tucano.preferences import AnswerPair, read_answer_pairs, write_answer_pairs
from tucano.prompts import read_prompts
from tucano.settings.training.dpo import DpoStage
from tucano.training.algorithms import NOISE
from tucano.training.checkpoints.attempts import Attempt
from tucano.training.checkpoints.beginning import Beginning, Reporter, begun, shared_arguments
from tucano.training.checkpoints.resumable import Part, ResumableTrainer, Settled, settled
from tucano.training.checkpoints.weights import TRAINED, kept_in_float32
from tucano.training.health import Alarm, Watch, watched
from tucano.training.jobs import Job, Progress, emit
from tucano.training.policies.chat import encode_chats, harmless
from tucano.training.policies.load import load_policy
from tucano.training.rollouts.examiner import Examiner, ScoredCompletion
from tucano.training.samplers.opening import sampler_for
from tucano.training.validation import Validation

NO_PAIR = (
    "there is no pair to learn from: the answers to each training prompt earn the same, or are cut off. The adapter"
    " that it began with is handed on as it is; for DPO raise grpo.generations or grpo.max_completion_tokens, or name"
    " pairs of people with dpo.pairs."
)


@dataclass(frozen=True)
class Learned:
    """The pairs that a training learns from."""

    pairs: list[AnswerPair]
    too_long: int


class ResumableDPOTrainer(ResumableTrainer, DPOTrainer):
    """TRL's trainer with checkpoints that carry the validation set's state and the pairs."""

    validation: Validation
    watch: Watch
    learned: Settled

    def parts(self) -> dict[str, Part]:
        return {**super().parts(), "learned": self.learned}

    def look(self) -> None:
        self.validation.look(self.model, self.state.global_step)


def run(job: Job) -> dict[str, object] | None:
    """Train one seed on from `job.adapter`; write the best adapter and the pairs into `job.output`. None when
    interrupted. Where there is no pair to learn from, a person hears of it, and that adapter is the best.
    """
    settings = DpoStage.model_validate(job.settings)
    files = PromptFiles(Path(job.prompts))
    output = SeedFiles(Path(job.output))
    beginning = begun(job, f"dpo seed {job.seed}" + (f" round {settings.round}" if settings.round > 1 else ""))
    journal = beginning.journal
    best = beginning.best
    policy, examiner = _opened(job, settings, files)
    asked = read_prompts(files.validation)
    validation = Validation(settings.dpo, examiner, asked, journal, best, job.seed, settings.validation_temperature)
    steps = 0
    alarms = list[Alarm]()
    with closing(examiner.sampler):
        learned = _as_before(beginning.attempt) or gathered(job, settings, files, policy, examiner)
        if learned.pairs:
            trainer = _trainer(job, settings, policy, validation, beginning, learned)
            if not trainer.train_resumable():
                return None
            steps, alarms = trainer.state.global_step, list(trainer.watch.raised.values())
        else:
            emit(Progress(beginning.name, 0, 0, {}, notice=NO_PAIR))
            validation.look(policy, 0)
    journal.commit(steps)
    looked = validation.delivered(policy, output.adapter)
    write_answer_pairs(output.pairs, learned.pairs)
    return {
        "steps": steps,
        "pairs": len(learned.pairs),
        "too_long": learned.too_long,
        **looked,
        "alarms": [asdict(alarm) for alarm in alarms],
        "arithmetic": [asdict(one) for one in beginning.arithmetic],
    }


def _trainer(
    job: Job,
    settings: DpoStage,
    policy: PeftModel,
    validation: Validation,
    beginning: Beginning,
    learned: Learned,
) -> ResumableDPOTrainer:
    with kept_in_float32(policy):
        trainer = ResumableDPOTrainer(
            model=policy,
            args=arguments(settings, beginning.attempt.drafts, job.save_steps),
            train_dataset=_dataset(learned.pairs, validation.examiner.tokenizer),
            processing_class=validation.examiner.tokenizer,
            callbacks=[Reporter(beginning.journal, beginning.name, {"loss": "loss", "rewards/margins": "margin"})],
        )
    trainer.begin(beginning)
    trainer.validation, trainer.learned = validation, Settled(json.dumps(asdict(learned)))
    planned = math.ceil(settings.dpo.max_epochs * math.ceil(len(learned.pairs) / settings.dpo.batch_size))
    trainer.watch = watched(beginning.journal, settings.health, planned, beginning.name)
    return trainer


def _dataset(pairs: Sequence[AnswerPair], tokenizer: PreTrainedTokenizerBase) -> Dataset:
    rows = [pair.row() for pair in pairs]
    return Dataset.from_dict({name: harmless(tokenizer, (row[name] for row in rows)) for name in rows[0]})


def _opened(job: Job, settings: DpoStage, files: PromptFiles) -> tuple[PeftModel, Examiner]:
    """GRPO's policy, and the examiner that asks it as GRPO's validation did."""
    assert job.adapter is not None, "preferences are learned by an adapter that is there"
    dpo = settings.dpo
    adapter = Path(job.adapter)
    policy, tokenizer = load_policy(settings.model, job.base, adapter, trainable=True, seed=job.seed)
    assert isinstance(policy, PeftModel)
    sampler = sampler_for(job, job.base, policy.peft_config[TRAINED].r, settings.model, dpo)
    rewards = load_reward_set(dpo.rewards, files.folder)
    most = dpo.max_completion_tokens
    thought = dpo.max_think_tokens
    return policy, Examiner(tokenizer, files.systems(), rewards, files.folder, most, sampler, thought)


def _as_before(attempt: Attempt) -> Learned | None:
    """The pairs of the checkpoint that this attempt goes on from."""
    known = settled(attempt, "learned")
    if known is None:
        return None
    return Learned([AnswerPair(**pair) for pair in known["pairs"]], known["too_long"])


def gathered(job: Job, settings: DpoStage, files: PromptFiles, policy: PeftModel, examiner: Examiner) -> Learned:
    """The pairs to learn from; those that a model's context does not hold are left out."""
    dpo = settings.dpo
    pairs = list[AnswerPair]()
    if dpo.ranked:
        prompts = read_prompts(files.train)
        seed = seed_of(job.seed, settings.round)
        answers = examiner.answer(policy, prompts, dpo.generations, dpo.temperature, seed)
        pairs += ranked_pairs(answers, dpo.generations, examiner.system_prompts)
    if job.preferences is not None:
        pairs += read_answer_pairs(Path(job.preferences))
    fitting = [pair for pair in pairs if _tokens(examiner, pair) <= settings.model.max_length_tokens]
    return Learned(fitting, len(pairs) - len(fitting))


def seed_of(seed: int, number: int) -> int:
    """What a round draws its answers by: one that has moved nothing is no copy of the one before it. In 32 bits, as
    torch's generator of a CPU looks at no more of a seed.
    """
    if number == 1:
        return seed
    return int.from_bytes(hashlib.sha256(f"{seed} round {number}".encode()).digest()[:4])


def ranked_pairs(
    completions: Sequence[ScoredCompletion], generations: int, systems: Mapping[str, str]
) -> Iterator[AnswerPair]:
    """Of each prompt's group [`generations`, side by side] the answer that the rewards rank first, before the one that
    they rank last, where they differ. Answers that were cut off at the ceiling are left out: as text they would end
    where the policy had not ended.

    The answers are those of the policy that is trained, and not kept from GRPO's rollouts: those come from every policy
    on the way, and DPO takes its pairs as drawn from its reference (section 4).
    """
    for start in range(0, len(completions), generations):
        group = [one for one in completions[start : start + generations] if not one.truncated]
        if not group:
            continue
        best = max(group, key=lambda one: one.score.total)
        worst = min(group, key=lambda one: one.score.total)
        if best.score.total - worst.score.total > NOISE and best.text != worst.text:
            yield AnswerPair(systems[best.prompt.task], best.prompt.user, best.text, worst.text)


def _tokens(examiner: Examiner, pair: AnswerPair) -> int:
    """Of the prompt with the longer of its answers, as the trainer reads it."""
    row = pair.row()
    chats = [row["prompt"] + row[name] for name in ("chosen", "rejected")]
    return max(map(len, encode_chats(examiner.tokenizer, chats)))


def arguments(settings: DpoStage, drafts: Path, save_steps: int) -> DPOConfig:
    """Every field that shapes the training, explicit: defaults of TRL and transformers differ silently."""
    dpo = settings.dpo
    return DPOConfig(
        **shared_arguments(dpo, settings.model, drafts, save_steps, settings.seed),
        num_train_epochs=dpo.max_epochs,
        per_device_train_batch_size=dpo.micro_batch,
        gradient_accumulation_steps=dpo.batch_size // dpo.micro_batch,
        max_grad_norm=dpo.max_grad_norm,
        beta=dpo.beta,
        loss_type=["sigmoid"],
        loss_weights=None,
        ld_alpha=None,
        f_divergence_type="reverse_kl",
        label_smoothing=0.0,
        use_weighting=False,
        precompute_ref_log_probs=False,
        sync_ref_model=False,
        disable_dropout=True,  # the ratio of two policies, and no noise between them
        max_length=None,  # longer pairs were left out, none is cut
        pad_to_multiple_of=None,
        padding_free=False,
        use_liger_kernel=False,
        activation_offloading=False,
        train_sampling_strategy="random",
    )
