"""What is worse and what is as good in `extraction`: kinds of flaws, wordings, and turns that are rare."""
