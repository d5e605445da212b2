"""Prompts in the style of real ones (`data.style=natural`): tables of what people write, and who draws from them."""
