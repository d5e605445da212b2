"""The two ways in which generated prompts are written (`data.style`)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from data.generator import insights, pushes, questions, reviews
from data.generator.natural import briefs as natural_briefs
from data.generator.natural import pushes as natural_pushes
from data.generator.natural import questions as natural_questions
from data.generator.natural import reviews as natural_reviews
from data.generator.store import Store
from tucano.settings.data import Style
from tucano.specs.banks import Pool
from tucano.specs.base import Review


@dataclass(frozen=True)
class Writers:
    """Who writes what; each takes the pool of templates first and a generator of random numbers last."""

    review: Callable[[Pool, Random], Review]
    question: Callable[[Pool, Store, Random], questions.Question]
    brief: Callable[[Pool, insights.Segment, Random], insights.Brief]
    push: Callable[[Pool, str, float | None, Random], pushes.PushBrief]


WRITERS: Mapping[Style, Writers] = {
    "plain": Writers(reviews.write_review, questions.ask, insights.write_brief, pushes.write_push),
    "natural": Writers(
        natural_reviews.write_review, natural_questions.ask, natural_briefs.write_brief, natural_pushes.write_push
    ),
}
