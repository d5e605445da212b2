"""How files of others are read: their lines, their rows, and what is said of rows that are none."""
