"""Whether vLLM answers an exported champion as transformers does: 50 prompts, greedily, both in float32.

    tucano export tucano@champion shop
    python -m benchmarks.vllm_export --python /PATH/bin/python --model shop --prompts runs/artifacts/data/*/test.jsonl

`--python` names an interpreter with vLLM, of any device; nothing of ours is imported there. Fails where fewer than 45
of 50 answers are the same tokens: another order of adding may turn a tie.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from tucano.prompts import read_prompts
from tucano.specs.registry import spec_of

ASKED, LEAST = 50, 45
LONGEST_TOKENS = 112
ASK = """
import json, sys
from vllm import LLM, SamplingParams
model, longest, prompts = json.load(sys.stdin)
llm = LLM(model=model, dtype="float32", max_model_len=640, enforce_eager=True, seed=0)
greedy = SamplingParams(temperature=0, max_tokens=longest)
asked = [{"prompt_token_ids": tokens} for tokens in prompts]
print("ANSWERS " + json.dumps([list(one.outputs[0].token_ids) for one in llm.generate(asked, greedy)]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", type=Path, required=True, help="an interpreter that can import vllm")
    parser.add_argument("--model", type=Path, required=True, help="a folder that `tucano export` has written")
    parser.add_argument("--prompts", type=Path, required=True, help="the test prompts of its run")
    chosen = parser.parse_args()
    tokenizer = AutoTokenizer.from_pretrained(chosen.model)
    held_out = read_prompts(chosen.prompts)
    prompts = []
    for place in range(ASKED):
        prompt = held_out[place * len(held_out) // ASKED]
        messages = [
            {"role": "system", "content": spec_of(prompt.task).system_prompt},
            {"role": "user", "content": prompt.user},
        ]
        prompts.append(tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=False))
    theirs = _asked(chosen.python, chosen.model, prompts)
    ours = _generated(chosen.model, prompts)
    same = sum(one == other for one, other in zip(ours, theirs, strict=True))
    print(f"vLLM gives the same tokens as transformers on {same} of {ASKED} prompts; {LEAST} have to be")
    sys.exit(same < LEAST)


def _asked(python: Path, model: Path, prompts: list[list[int]]) -> list[list[int]]:
    given = json.dumps([str(model.absolute()), LONGEST_TOKENS, prompts])
    small = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1", "VLLM_ENABLE_V1_MULTIPROCESSING": "0"}
    ended = subprocess.run(
        [python, "-c", ASK], input=given, stdout=subprocess.PIPE, text=True, env=os.environ | small, check=False
    )
    if ended.returncode:
        sys.exit(f"vLLM failed:\n{ended.stdout[-4000:]}")
    line = next(line for line in ended.stdout.splitlines() if line.startswith("ANSWERS "))
    return [list(map(int, answer)) for answer in json.loads(line.removeprefix("ANSWERS "))]


def _generated(model: Path, prompts: list[list[int]]) -> list[list[int]]:
    loaded = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    answers = []
    for tokens in prompts:
        given = torch.tensor([tokens])
        mask = torch.ones_like(given)
        drawn = loaded.generate(given, attention_mask=mask, do_sample=False, max_new_tokens=LONGEST_TOKENS)
        answers.append(drawn[0, len(tokens) :].tolist())
    return answers


if __name__ == "__main__":
    main()
