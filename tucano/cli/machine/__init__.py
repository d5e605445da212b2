"""The machine that the command runs on: what it has, what it lacks, and what of that can be mended."""
