"""Prompts that somebody else owns: read row by row from a file that may hold anything, checked, and written again."""
