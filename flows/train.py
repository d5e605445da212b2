"""The train flow: from data to a promoted adapter, one page."""

from prefect import flow

from tasks.approval import ask, decide
from tasks.audit import audit_again, audit_rewards, pass_gate
from tasks.compare import answer_prompts, answer_seed, answer_starts, compare_arms, wait_for
from tasks.cost import account
from tasks.evaluations import show_answers
from tasks.plan import foresee, write_plan
from tasks.preflight import check_before_grpo, pass_preflight
from tasks.prepare import choose_preferences, prepare_data
from tasks.promote import Evidence, promote
from tasks.public import score_publicly
from tasks.report import write_report
from tasks.running.deployed import cancel_children, cancelled_together
from tasks.running.elsewhere import where
from tasks.running.labels import train_name
from tasks.running.run import opened
from tasks.train import await_seed, fine_tune, gather, train_seed
from tucano.settings import PipelineSettings


@flow(name="train", flow_run_name=train_name, on_cancellation=[cancel_children])
def train(settings: PipelineSettings) -> str:
    """Prepare data, audit the rewards, SFT, preflight, GRPO with every seed, audit again, compare on held-out prompts,
    promote, report.

    Returns the path of the report. Every stage is a retryable task whose valid artifact is reused. Those that hold a
    model work in child processes of this run, or each in a run of its own on a work pool (`execution`).
    """
    foresee(settings)
    with cancelled_together(), opened(settings) as run:
        prompts = prepare_data(run)
        plan = write_plan(run, prompts)
        preferences = choose_preferences(run, prompts)
        audit = audit_rewards(run)
        pass_gate(run, audit)
        start = where(run, fine_tune)(run, prompts) if settings.sft.enabled else None
        preflight = where(run, check_before_grpo)(run, prompts, start)
        pass_preflight(run, preflight)
        retries = settings.worker.retries
        one_seed = await_seed if settings.execution.seeds else train_seed.with_options(retries=retries)
        given = (run, prompts, start)
        here = settings.execution.is_here_alone  # a seed's run elsewhere may need the same GPU for itself
        beside = [answer_starts.with_options(retries=retries).submit(*given)] if here else []
        early = [show_answers.submit(*given, None, answered, return_state=False) for answered in beside]
        training = {seed: one_seed.submit(*given, seed, preferences) for seed in settings.grpo.seeds}
        if here:  # each in the place of a seed, as soon as there is one
            one_arm = answer_seed.with_options(retries=retries)
            beside += [one_arm.submit(*given, trained, return_state=False) for trained in training.values()]
        seeds = gather(run, training)
        wait_for([*beside, *early])
        answers = where(run, answer_prompts)(run, prompts, start, seeds)
        shown = show_answers.submit(run, prompts, start, seeds, answers)
        reaudit = audit_again(run, prompts, start, seeds, answers)
        public = score_publicly(run, start, seeds.trained)
        comparison = compare_arms(run, prompts, plan, start, seeds, answers, public)
        promotion = promote(run, prompts, audit, start, seeds, Evidence(answers, reaudit, comparison))
        account(run, seeds, comparison)  # after the merge, so that the report says the same
        shown.wait()  # the run's note links to them
        report = write_report(run, prompts, audit, seeds, reaudit, comparison, promotion)
        approval = ask(run, promotion, comparison)
        if approval is not None:
            promotion = decide(run, promotion, approval)
            report = write_report(run, prompts, audit, seeds, reaudit, comparison, promotion)
        shown.result()
        return report
