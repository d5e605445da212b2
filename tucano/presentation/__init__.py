"""What people see of results: tables for the terminal, the base of every page."""
