"""What the audit asks of rewards beyond the plain edits of a task's spec: flaws of every kind that the rating guide
names, changes that nobody minds, and prompts told otherwise. None of it knows how any reward is computed.
"""
