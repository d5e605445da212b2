"""The names of the product's tasks, in their fixed order.

A name here is a task's registration: `tucano/specs/<name>.py` describes it. The rewards of the first four, the
report's, stand by reward set (v42.py, grounded.py, controls.py, truth.py); every later task keeps its own in
`rewards/tasks/<name>.py`.
"""

REPORTED: tuple[str, ...] = ("extraction", "sql_qa", "insights", "push")
LATER: tuple[str, ...] = ("sentiment", "churn")
TASKS: tuple[str, ...] = (*REPORTED, *LATER)
