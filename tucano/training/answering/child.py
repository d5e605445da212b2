"""The process that holds a served model: `python -m tucano.training.answering.child`.

It reads an `Opening` and then batches of questions from its standard input, and writes as many batches of answers to
its standard output, in the same order (`messages`). It ends when its input does, which happens however the server ends.
What libraries print goes to standard error.
"""

import json
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, GenerationConfig, PreTrainedTokenizerBase

from tucano.errors import UserError, WorkerFailed
from tucano.security.printable import short
from tucano.settings.model import LoadedModel
from tucano.settings.training.drawing import Completions
from tucano.training.answering.messages import Drawn, Opened, Opening, Question, chat, line
from tucano.training.checkpoints import arithmetic
from tucano.training.policies.chat import encode_chats, stop_tokens
from tucano.training.policies.load import Policy, load_policy
from tucano.training.policies.per_task import drawn_by_speaker, tasks_of
from tucano.training.policies.reading import Reader
from tucano.training.samplers import Decoding, Draw, Sampler
from tucano.training.samplers.local import LocalSampler
from tucano.training.samplers.opening import server_for
from tucano.training.worker import quieten_libraries


@dataclass(frozen=True)
class Answerer:
    """A loaded model that answers questions. context_tokens: of prompt and answer together."""

    policy: Policy
    tokenizer: PreTrainedTokenizerBase
    reader: Reader
    sampler: Sampler
    generator: torch.Generator
    context_tokens: int

    def answer(self, questions: Sequence[Question]) -> list[Drawn]:
        """One for each of the questions, in their order. Those that are decoded alike are drawn together, but for those
        with a seed: products of other shapes may differ in their last bits.
        """
        chats = [chat(question.system, (*question.earlier, question.user)) for question in questions]
        prompts = encode_chats(self.tokenizer, chats)
        found: dict[int, Drawn] = {}
        together: dict[tuple[Decoding, int | None], list[int]] = {}
        stop = tuple(stop_tokens(self.policy, self.tokenizer))
        for row, (question, prompt) in enumerate(zip(questions, prompts, strict=True)):
            refused = self._refusal(question, prompt)
            if refused is not None:
                found[row] = _refused(len(prompt), refused)
            else:
                opened = self.reader.opens(question.system)
                form = None if opened else question.form  # it would hold the thought to it
                decoding = Decoding(question.max_new_tokens, question.temperature, stop, form)
                together.setdefault((decoding, None if question.seed is None else row), []).append(row)
        for (decoding, _), alike in together.items():
            try:
                draws = self._draws([prompts[row] for row in alike], [questions[row] for row in alike], decoding)
            except (ImportError, WorkerFailed) as fault:  # no llguidance in this interpreter, or no form for vLLM
                if decoding.form is None:
                    raise
                reason = f"no answer can be held to this form ({short(str(fault))})"
                found |= {row: _refused(len(prompts[row]), reason) for row in alike}
                continue
            found |= {
                row: self._drawn(questions[row], prompts[row], draw, decoding)
                for row, draw in zip(alike, draws, strict=True)
            }
        return [found[row] for row in range(len(questions))]

    def _draws(self, prompts: Sequence[Sequence[int]], questions: Sequence[Question], decoding: Decoding) -> list[Draw]:
        seed = questions[0].seed
        generator = self.generator if seed is None else torch.Generator().manual_seed(seed)
        tasks = [question.task for question in questions]
        return drawn_by_speaker(self.sampler, self.policy, tasks, prompts, decoding, generator)

    def _refusal(self, question: Question, prompt: Sequence[int]) -> str | None:
        """Why a question is not asked: a text may not pose as another turn of the chat, nor be too long for the
        model."""
        known = self.tokenizer.added_tokens_decoder.values()
        said = "\n".join((*question.earlier, question.user))
        marks = [token.content for token in known if token.special and token.content in said]
        if marks:
            return f"the text holds {marks[0]}, which is a mark of the model's own; leave it out"
        if len(prompt) + question.max_new_tokens > self.context_tokens:
            return (
                f"the text has {len(prompt)} tokens with its system prompt, and with an answer of"
                f" {question.max_new_tokens} more than the model's {self.context_tokens}; shorten it"
            )
        return None

    def _drawn(self, question: Question, prompt: Sequence[int], draw: Draw, decoding: Decoding) -> Drawn:
        text = self.reader.read(draw.tokens, question.system).answer
        ended = draw.tokens[-1] in decoding.stop
        text = (text if ended else text.rstrip("\ufffd")).strip()  # half a character, which the ceiling cut
        return Drawn(text, len(prompt), len(draw.tokens), truncated=not ended)


def _refused(tokens: int, reason: str) -> Drawn:
    return Drawn("", tokens, 0, truncated=False, refused=reason)


def load(opening: Opening) -> Answerer:
    """The model with who draws from it. With vLLM the weights are the server's alone. UserError where
    the files cannot be loaded as they are.
    """
    settings = LoadedModel.model_validate(opening.loaded)
    completions = Completions.model_validate(opening.completions)
    adapter = Path(opening.adapter) if opening.adapter else None
    if completions.sampler == "vllm" and adapter is not None:
        raise UserError(
            "this version has an adapter for each task, and a vLLM server is given one: serve it with"
            " --set grpo.sampler=local"
        )
    if completions.sampler == "vllm":
        policy, tokenizer = _empty(opening.model)
        sampler = server_for(opening, opening.model, 0, settings, Path(opening.log))
    else:
        policy, tokenizer = load_policy(settings, opening.model, adapter, trainable=False, seed=opening.seed)
        policy.eval()
        sampler = LocalSampler(completions.own_decoding, fixed=True, tokenizer=tokenizer)
    context = min(settings.max_length_tokens, int(policy.config.max_position_embeddings))
    reader = Reader(tokenizer, completions.max_think_tokens)
    return Answerer(policy, tokenizer, reader, sampler, torch.Generator().manual_seed(opening.seed), context)


def _empty(folder: str) -> tuple[Policy, PreTrainedTokenizerBase]:
    """A model without weights: its shape, and the tokens that end an answer."""
    with torch.device("meta"):
        policy = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(folder))
    policy.generation_config = GenerationConfig.from_pretrained(folder)
    return policy, AutoTokenizer.from_pretrained(folder)


def main(asked: BinaryIO, said: BinaryIO) -> int:
    quieten_libraries()
    opening = Opening(**json.loads(asked.readline()))
    arithmetic.compute_with(opening.threads)
    if opening.loaded["device"] == "cuda":
        arithmetic.choose(opening.deterministic, patched=False)  # transformers loads, whatever trained
    try:
        answerer = load(opening)
        tasks = tasks_of(answerer.policy) or ("",)
        # what is slow the first time, and whether it works
        answerer.answer([Question("", "aquecimento", 1, 0.0, task) for task in tasks])
    except (UserError, OSError, ValueError) as error:
        traceback.print_exc()
        _say(said, line(Opened(fault=f"{type(error).__name__}: {error}" if isinstance(error, OSError) else str(error))))
        return 1
    with closing(answerer.sampler):
        _say(said, line(Opened()))
        for batch in asked:
            _say(said, line(answerer.answer([Question(**question) for question in json.loads(batch)])))
    return 0


def _say(said: BinaryIO, content: bytes) -> None:
    said.write(content)
    said.flush()


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with answers:
        code = main(sys.stdin.buffer, answers)
    os._exit(code)
