"""Every arm answers the questions of the public benchmarks: greedily, and where there are options by the likeliest."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from transformers import PreTrainedTokenizerBase

from tucano.benchmark.public.questions import PublicFiles, Question, Reply, read_questions, write_lines
from tucano.settings.comparison import GreedyAnswersStage
from tucano.training.jobs import Arm, Job, Progress, emit, pulse
from tucano.training.policies.chat import Chat, encode_chats, stop_tokens
from tucano.training.policies.likelihood import token_logps
from tucano.training.policies.load import Policy, load_arm
from tucano.training.policies.reading import Reader
from tucano.training.samplers import Decoding
from tucano.training.samplers.opening import rank_of, sampler_for


def run(job: Job) -> dict[str, object]:
    """Write the replies of all arms into `job.output`; the questions lie in `job.prompts`."""
    settings = GreedyAnswersStage.model_validate(job.settings)
    questions = read_questions(PublicFiles(Path(job.prompts)).questions)
    replies: list[Reply] = []
    for number, arm in enumerate(job.arms):
        policy, tokenizer = load_arm(settings.model, arm, job.seed)
        policy.eval()
        open_ended = [question for question in questions if not question.options]
        replies += _written(job, settings, arm, (policy, tokenizer), open_ended)
        replies += [_chosen(settings, arm, policy, tokenizer, question) for question in questions if question.options]
        emit(Progress(f"public benchmarks, {arm.name}", number + 1, len(job.arms), {"answers": len(questions)}))
    write_lines(PublicFiles(Path(job.output)).replies, replies)
    return {"arms": [arm.name for arm in job.arms]}


def _written(
    job: Job,
    settings: GreedyAnswersStage,
    arm: Arm,
    model: tuple[Policy, PreTrainedTokenizerBase],
    questions: Sequence[Question],
) -> list[Reply]:
    """Greedy answers."""
    policy, tokenizer = model
    longest = settings.model.max_length_tokens - settings.grpo.max_completion_tokens
    chats = [_chat(question, settings) for question in questions]
    prompts = encode_chats(tokenizer, chats) if chats else []
    decoding = Decoding(settings.grpo.max_completion_tokens, 0.0, tuple(stop_tokens(policy, tokenizer)))
    with closing(sampler_for(job, arm.base, rank_of(arm), settings.model, settings.grpo)) as sampler:
        drawn = sampler.sample(policy, [prompt[-longest:] for prompt in prompts], decoding)
    reader = Reader(tokenizer, settings.grpo.max_think_tokens)
    return [
        Reply(arm.name, question.id, reader.read(draw.tokens, chat[0]["content"]).answer, len(prompt) > longest)
        for question, chat, prompt, draw in zip(questions, chats, prompts, drawn, strict=True)
    ]


def _chosen(
    settings: GreedyAnswersStage, arm: Arm, policy: Policy, tokenizer: PreTrainedTokenizerBase, question: Question
) -> Reply:
    """The option with the largest log-likelihood per character, so that a long one is not at a disadvantage."""
    options = [tokenizer.encode(option, add_special_tokens=False) for option in question.options]
    longest = settings.model.max_length_tokens - max(map(len, options))
    (prompt,) = encode_chats(tokenizer, [_chat(question, settings)])
    kept = prompt[-max(1, longest) :]
    found = token_logps(policy, [kept] * len(options), options)
    pulse()
    values = [logps.sum().item() / len(text) for logps, text in zip(found, question.options, strict=True)]
    return Reply(arm.name, question.id, question.options[values.index(max(values))], len(prompt) > len(kept))


def _chat(question: Question, settings: GreedyAnswersStage) -> Chat:
    """Of a model that can think: told to answer at once, as the gold answers are."""
    return question.messages(settings.grpo.max_think_tokens is not None)
