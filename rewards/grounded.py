"""Reward set `grounded`: form, plus truth where a prompt's reference holds some; dense, and hard to please without an
answer.

All credit is multiplied by gates: how much the text is an answer at all (Portuguese, in order, whole, not the same
again and again, not the prompt copied, not taken back), and how much of it is true. Where a reference is empty nothing
is known to be true, and the credit for form is scaled up to fill [0, 1].
"""

from rewards.extraction import Extraction
from rewards.insights import Insights
from rewards.push import Push
from rewards.sql_qa import SqlQa
from rewards.types import TaskReward

TASKS: dict[str, TaskReward] = {"extraction": Extraction(), "sql_qa": SqlQa(), "insights": Insights(), "push": Push()}
