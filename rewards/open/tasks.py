"""A push by a formula that knows no dialect: of reward set `open`, for prompts and answers of any shop."""

from rewards.open.push import Push
from rewards.types import TaskReward

TASKS: dict[str, TaskReward] = {"push": Push()}
