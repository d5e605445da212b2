"""The `tucano` command: what a person types, and the local pages that it opens."""
