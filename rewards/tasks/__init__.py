"""The rewards of the tasks that came after the report's four, one file each."""
