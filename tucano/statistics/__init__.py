"""Tests, intervals and plans: numbers in, numbers out."""
