"""Settings of how a model learns, and of what watches it: `sft.*`, `preflight.*`, `grpo.*`, `health.*`, `dpo.*`."""
