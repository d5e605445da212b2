"""What is worse and what is as good in `push`: kinds of flaws, wordings, and turns that are rare."""
