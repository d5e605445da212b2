"""`mini`: the base model that comes with the program, and how it was made (`make base`).

A Qwen3 of some four million weights with a tokenizer of its own. It has read generated prompts with good answers of all
tasks, the general demonstrations, and the best rated answers of many tones; it knows nothing else.
"""

from pathlib import Path

NAME = "mini"
FOLDER = Path(__file__).with_name("model")
"""Configuration, tokenizer and weights (bfloat16), as transformers reads them."""
