"""The seeded generator of synthetic prompts: every text has a known template and a known true answer."""
