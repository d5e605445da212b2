"""Passwords and doors, and every text from outside before it is shown, stored or followed."""
