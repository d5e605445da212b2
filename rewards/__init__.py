"""The product specification: what a good answer is, as pure functions of a prompt and a completion.

Standard library, json-repair and sqlglot only. `load_reward_set` gives a picklable `RewardSet`; `classify_task` names
the task of a prompt without a label; `describe` prints the component table. What is true of an answer is none of their
business: `tucano.truth` judges that with readers of its own.
"""

from rewards.classify import classify_task
from rewards.describe import describe
from rewards.fields import FieldScore, field_scores
from rewards.sets import RewardSet, load_reward_set
from rewards.types import PromptLike, Score

__all__ = [
    "FieldScore",
    "PromptLike",
    "RewardSet",
    "Score",
    "classify_task",
    "describe",
    "field_scores",
    "load_reward_set",
]
