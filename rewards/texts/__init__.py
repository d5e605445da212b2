"""What reading a text of insights or a push takes: its figures, offers, order of words and slips."""
