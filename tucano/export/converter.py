"""Runs the converter of a llama.cpp checkout, in a process of its own: CHECKOUT, then the converter's own arguments.

llama.cpp cuts text into words in ways that it knows by name, and has none for the tokenizers that are built here
(tucano/training/policies/nano.py). Nor needs it one: of their merges none crosses where they cut, so a way that cuts
nowhere gives the same tokens. `superbpe` cuts around runs of digits only. What that loses is a digit with the blank
before it; those tokens are entered as the user's own, which llama.cpp looks for before it cuts. What stays another:
letters or a digit behind two or more blanks or line ends, the last of which is a blank.
"""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

WORDS = r" ?[\p{L}_]+| ?\p{N}|[^\s\p{L}\p{N}_]+|\s+"
NEAREST = "superbpe"
USERS_OWN = 4
"""The token type of GGUF that is called USER_DEFINED."""
BLANK = "Ġ"
"""How a byte-level vocabulary writes it."""


def is_ours(tokenizer: Any) -> bool:
    cuts = json.loads(tokenizer.backend_tokenizer.to_str())["pre_tokenizer"].get("pretokenizers", [{}])
    return bool(cuts[0].get("pattern") == {"Regex": WORDS})


def teach(text_model: Any) -> None:
    """Give the converter's class of text models the tokenizers that are built here."""
    name_of, vocabulary_of = text_model.get_vocab_base_pre, text_model.get_vocab_base

    def get_vocab_base_pre(self: Any, tokenizer: Any) -> str:
        return NEAREST if is_ours(tokenizer) else str(name_of(self, tokenizer))

    def get_vocab_base(self: Any) -> tuple[list[str], list[int], str]:
        tokens, types, name = vocabulary_of(self)
        for place, token in enumerate(tokens):
            if name == NEAREST and len(token) == 2 and token[0] == BLANK and token[1].isnumeric():
                tokens[place] = f" {token[1]}"
                types[place] = USERS_OWN
        return tokens, types, name

    text_model.get_vocab_base_pre, text_model.get_vocab_base = get_vocab_base_pre, get_vocab_base


def main(checkout: str, *arguments: str) -> None:
    script = Path(checkout) / "convert_hf_to_gguf.py"
    sys.path.insert(0, checkout)
    sys.argv = [str(script), *arguments]
    converter = importlib.import_module(script.stem)
    teach(next(kind for kind in converter.ModelBase.__subclasses__() if hasattr(kind, "get_vocab_base_pre")))
    converter.main()


if __name__ == "__main__":
    main(*sys.argv[1:])
