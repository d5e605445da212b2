"""The promoted model as it is served: `mlflow.pyfunc` calls `_load_pyfunc`, and `predict` answers one prompt per row.

This file travels inside the model and imports nothing of this project, so that a server needs torch and transformers
only. The folder holds `model/` (merged weights and tokenizer), `system_prompts.json` ({task: text}) and `serving.json`
(temperature, max_new_tokens, seed; `thoughts`, the pattern of what stands before an answer, and `max_think_tokens`: a
thought that is longer costs the answer, as it did in training). Where tasks have adapters of their own, `model/` holds
their base and `adapter/TASK/` what each adds to it; then a server needs peft too.
"""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

OPEN, CLOSE = "<think>", "</think>"
LOWEST_TEMPERATURE = 0.01
"""Below it the likeliest tokens are taken, as in training (tucano/training/samplers)."""


class ServedModel:
    """Rows in, rows out: columns `task` and `prompt` become `answer`, each with its task's own system prompt."""

    def __init__(self, folder: Path) -> None:
        self.systems: dict[str, str] = json.loads((folder / "system_prompts.json").read_text(encoding="utf-8"))
        self.decoding: dict[str, Any] = json.loads((folder / "serving.json").read_text(encoding="utf-8"))
        device = "cuda" if torch.cuda.is_available() else "cpu"
        dtype = torch.bfloat16 if device == "cuda" else torch.float32
        self.tokenizer = AutoTokenizer.from_pretrained(folder / "model", padding_side="left")
        model, loading = AutoModelForCausalLM.from_pretrained(
            folder / "model", dtype=dtype, use_safetensors=True, output_loading_info=True
        )
        if loading["missing_keys"]:  # transformers would draw them by chance and go on
            raise ValueError(
                f"{folder / 'model'} lacks the weights {', '.join(sorted(loading['missing_keys']))}; copy the model"
                " anew"
            )
        self.tasks = [path.parent.name for path in sorted((folder / "adapter").glob("*/adapter_config.json"))]
        if self.tasks:
            from peft import PeftModel  # transformers' own load_adapter draws the first adapter anew with the second

            model = PeftModel.from_pretrained(model, folder / "adapter" / self.tasks[0], adapter_name=self.tasks[0])
            for task in self.tasks[1:]:
                model.load_adapter(folder / "adapter" / task, adapter_name=task)
        self.model = model.to(device).eval()

    def predict(self, model_input: pd.DataFrame, params: dict[str, Any] | None = None) -> pd.DataFrame:
        """The answers in the rows' order, the same for the same rows. ValueError for an unknown task."""
        unknown = sorted(set(model_input["task"]) - set(self.systems))
        if unknown:
            raise ValueError(f"task {unknown[0]!r} is none of {', '.join(self.systems)}")
        rows = zip(model_input["task"], model_input["prompt"], strict=True)
        return pd.DataFrame({"answer": [self.answer(task, prompt) for task, prompt in rows]})

    def messages(self, task: str, prompt: str) -> list[dict[str, str]]:
        return [{"role": "system", "content": self.systems[task]}, {"role": "user", "content": prompt}]

    def answer(self, task: str, prompt: str) -> str:
        if task in self.tasks:
            self.model.set_adapter(task)
        inputs = self.tokenizer.apply_chat_template(
            self.messages(task, self._harmless(prompt)),
            add_generation_prompt=True,
            return_tensors="pt",
            return_dict=True,
        ).to(self.model.device)
        drawing = self.decoding["temperature"] >= LOWEST_TEMPERATURE
        with torch.random.fork_rng(), torch.inference_mode():
            torch.manual_seed(self.decoding["seed"])
            tokens = self.model.generate(
                **inputs,
                do_sample=drawing,
                temperature=self.decoding["temperature"] if drawing else None,
                top_p=1.0 if drawing else None,
                top_k=0 if drawing else None,
                max_new_tokens=self.decoding["max_new_tokens"],
                pad_token_id=self.tokenizer.pad_token_id,
            )
        drawn = tokens[0, inputs["input_ids"].shape[1] :].tolist()
        text = str(self.tokenizer.decode(drawn, skip_special_tokens=True))
        if str(self.tokenizer.decode(inputs["input_ids"][0])).rstrip().endswith(OPEN):  # by the chat template
            text = OPEN + text
        most = self.decoding.get("max_think_tokens") or len(drawn)
        answer = re.sub(self.decoding.get("thoughts", r"\A(?!)"), "", text, count=1)
        return "" if answer != text and self._think_tokens(drawn) > most else answer.strip()

    def _harmless(self, text: str) -> str:
        """With marks of the model's own written apart: nobody's text ends or opens a turn."""
        for token in self.tokenizer.added_tokens_decoder.values():
            text = text.replace(token.content, f"{token.content[0]} {token.content[1:]}") if token.special else text
        return text

    def _think_tokens(self, drawn: list[int]) -> int:
        """Up to the last mark that closes a thought; all of them where none does."""
        close = self.tokenizer.convert_tokens_to_ids(CLOSE)
        return max((place + 1 for place, token in enumerate(drawn) if token == close), default=len(drawn))


def _load_pyfunc(path: str) -> ServedModel:
    return ServedModel(Path(path))
