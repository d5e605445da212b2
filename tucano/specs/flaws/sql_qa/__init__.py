"""What is worse and what is as good in `sql_qa`: kinds of flaws, wordings, and turns that are rare."""
