"""Push and insights by formulas that know no dialect: of reward set `open`, for prompts and answers of any shop."""

from rewards.open.insights import Insights
from rewards.open.push import Push
from rewards.types import TaskReward

TASKS: dict[str, TaskReward] = {"insights": Insights(), "push": Push()}
