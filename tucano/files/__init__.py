"""What lies in the folders that stages hand to each other: every file's name stands here, and only here."""
