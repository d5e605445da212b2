"""What an untrusted answer holds: its JSON object, its SQL query, its words and its figures."""
