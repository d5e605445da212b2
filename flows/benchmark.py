"""The benchmark flow: what trained arms, baselines, other models and APIs are worth by ground truth, one page."""

from prefect import flow

from data.public.prepare import require_public
from tasks.benchmark import (
    answer_with_baselines,
    answer_with_endpoint,
    answer_with_models,
    finished,
    judge_benchmark,
    make_benchmark_set,
    rate_insights,
    time_models,
)
from tasks.prepare import prepare_data
from tasks.public import score_publicly
from tasks.running.elsewhere import where
from tasks.running.handles import AnswerSet
from tasks.running.labels import benchmark_name
from tasks.running.places import require_places
from tasks.running.run import opened
from tucano.benchmark.chat import key_of
from tucano.settings import PipelineSettings


@flow(name="benchmark", flow_run_name=benchmark_name)
def benchmark(settings: PipelineSettings) -> str:
    """Prompts with known answers, answered by every arm, judged without any reward. Trains nothing; returns the table's
    path.
    """
    for endpoint in settings.benchmark.endpoints:
        key_of(endpoint)
    require_places(settings)
    require_public(settings.benchmark.named)
    with opened(settings) as run:
        prompts = prepare_data(run)
        start, seeds = finished(run, prompts)
        questions = make_benchmark_set(run, prompts)
        models = where(run, answer_with_models)(run, questions, start, seeds)
        paces = where(run, time_models)(run, questions, start, seeds) if seeds else None
        answered: list[AnswerSet] = [models] if models else []
        answered.append(answer_with_baselines(run, prompts, questions))
        answered += [answer_with_endpoint(run, questions, endpoint) for endpoint in settings.benchmark.endpoints]
        rated = rate_insights(run, questions, answered)
        score_publicly(run, start, seeds)
        return str(judge_benchmark(run, questions, answered, rated, paces).files.table)
