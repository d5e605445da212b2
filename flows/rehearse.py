"""The rehearse flow: every stage of the train flow in small, each although another one failed, one page."""

from prefect import flow

from tasks.audit import audit_again, audit_rewards
from tasks.compare import answer_prompts, answer_seed, answer_starts, compare_arms
from tasks.cost import account
from tasks.evaluations import show_answers
from tasks.plan import look_ahead, write_plan
from tasks.preflight import check_before_grpo
from tasks.prepare import choose_preferences, prepare_data
from tasks.promote import Evidence, merge, promote
from tasks.public import answer_public, judge_public_answers, make_public_set
from tasks.rehearsal.attempts import Attempts
from tasks.rehearsal.served import answer_served
from tasks.rehearsal.stand_ins import generated_prompts, repeated_prompts, untrained_seed, untrained_start
from tasks.rehearsal.tried import Tried
from tasks.report import write_report
from tasks.running.handles import Seeds
from tasks.running.run import opened
from tasks.train import fine_tune, train_seed
from tucano.settings import PipelineSettings


@flow(name="rehearse", validate_parameters=False)
def rehearse(settings: PipelineSettings, tried: list[Tried], ends: float) -> None:
    """What became of each stage goes into `tried`. `ends` (of the monotonic clock) is when all has to be over.

    The shortest way to a served answer comes first; up to the merge no stage may take more than half of the time that
    is left. What needs no GPU comes last. Nothing is asked of a person.
    """
    with opened(settings) as run:
        attempt = Attempts(run, tried, ends)
        attempt(look_ahead)
        prompts = attempt(prepare_data) or attempt(generated_prompts)
        plan = attempt(write_plan, prompts)
        preferences = attempt(choose_preferences, prompts)
        start = None
        if settings.sft.enabled:
            start = attempt(fine_tune, prompts, on_gpu=True) or attempt(untrained_start, prompts, on_gpu=True)
        seed = settings.grpo.seeds[0]
        best = attempt(train_seed, prompts, start, seed, preferences, on_gpu=True)
        best = best or attempt(untrained_seed, prompts, start, seed, on_gpu=True)
        attempt.share = 1.0
        merged = attempt(merge, prompts, start, best, on_gpu=True)
        attempt(answer_served, prompts, best, merged, on_gpu=True)
        attempt(check_before_grpo, prompts, start, on_gpu=True)
        attempt(answer_starts, prompts, start, on_gpu=True)
        attempt(answer_seed, prompts, start, best, on_gpu=True)
        seeds = Seeds((best,), {}) if best else None
        answers = attempt(answer_prompts, prompts, start, seeds, on_gpu=True)
        public = None
        if settings.benchmark.named:
            questions = attempt(make_public_set)
            replies = attempt(answer_public, questions, start, [best] if best else None, on_gpu=True)
            public = attempt(judge_public_answers, questions, replies)
        answers = answers or attempt(repeated_prompts, prompts, start, seeds)
        reaudit = attempt(audit_again, prompts, start, seeds, answers)
        comparison = attempt(compare_arms, prompts, plan, start, seeds, answers, public)
        attempt(account, seeds, comparison)
        attempt(show_answers, prompts, start, seeds, answers)
        audit = attempt(audit_rewards)
        evidence = Evidence(answers, reaudit, comparison) if answers and reaudit and comparison else None
        promotion = attempt(promote, prompts, audit, start, seeds, evidence)
        attempt(write_report, prompts, audit, seeds, reaudit, comparison, promotion)
