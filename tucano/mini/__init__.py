"""`mini`: the base model that comes with the program (`tucano.artifacts.identity.SHIPPED`), and how it was made.

A Qwen3 of some four million weights with a tokenizer of its own. It has read generated prompts with good answers of all
tasks, the general demonstrations, and the best rated answers of many tones; it knows nothing else.
"""
