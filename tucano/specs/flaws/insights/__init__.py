"""What is worse and what is as good in `insights`: kinds of flaws, wordings, and turns that are rare."""
