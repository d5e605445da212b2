"""Synthetic reviews for extraction: one to three sentences, whose ten answer fields follow from what they say."""

from collections.abc import Sequence
from random import Random
from typing import Any

from data.generator.phrases import BANKS, ISSUES, Complaint, Issue
from data.generator.words import CATALOGUE, THE_PRODUCT, Product
from tucano.specs.banks import JOINT, Bank, Pool
from tucano.specs.base import Review

STARS = (1, 2, 3, 4, 5)
STAR_WEIGHTS = (22, 16, 18, 20, 24)
BLIND_SHARE = 0.5
"""Of the prompts show the review alone: its stars and its category have to be read from it."""


def write_review(pool: Pool, rng: Random) -> Review:
    """One review from the templates of `pool`."""
    stars = rng.choices(STARS, STAR_WEIGHTS)[0]
    product = rng.choice(CATALOGUE)
    issues = _issues(stars, rng)
    names, sentences = [], []
    for position, bank in enumerate(_plan(stars, issues, rng)):
        name, template = bank.draw(pool, rng)
        names.append(name)
        sentences.append(_sentence(template, product.slots if position == 0 else THE_PRODUCT, rng))
    told = rng.choice(("envelope", "ficha"))
    wrappers = BANKS["texto" if rng.random() < BLIND_SHARE else told]
    drawn = wrappers.draw(pool, rng)
    text = " ".join(sentences)
    if rng.random() < 0.1:
        text = text.lower()

    def enveloped(wrapper: str, envelope: str) -> tuple[str, str]:
        return envelope.format(s=stars, c=product.category, t=text), JOINT.join([wrapper, *names])

    return Review(
        *enveloped(*drawn),
        text,
        JOINT.join(names),
        stars,
        true_fields(stars, product, issues),
        lambda rng: enveloped(*wrappers.reword(rng)),
    )


def true_fields(stars: int, product: Product, issues: Sequence[Complaint]) -> dict[str, Any]:
    """The ten fields: stars decide sentiment, churn and repurchase, sentences the issues; the first issue is the
    complaint.
    """
    flags = {issue.flag for issue in issues}
    complaint = issues[0].complaint if issues else None
    return {
        "sentiment": sentiment_of(stars),
        "sentiment_score": stars,
        "category": product.category,
        "delivery_issue": "delivery_issue" in flags,
        "product_issue": "product_issue" in flags,
        "seller_issue": "seller_issue" in flags,
        "churn_risk": "low" if stars >= 4 else "medium" if stars == 3 else "high",
        "repurchase_intent": stars >= 4,
        "main_complaint": complaint,
        "summary": _summary(stars, product, complaint),
    }


def sentiment_of(stars: int) -> str:
    """positive for 4 and 5 stars, negative for 1 and 2, neutral for 3."""
    return "positive" if stars >= 4 else "negative" if stars <= 2 else "neutral"


def _summary(stars: int, product: Product, complaint: str | None) -> str:
    if complaint is None:
        return f"Cliente {'satisfeito com' if stars >= 4 else 'neutro sobre'} {product.slots['o']}."
    if stars >= 4:
        return f"Cliente gostou {product.slots['do']}, mas aponta {complaint}."
    return f"Cliente reclama {product.slots['do']}: {complaint}."


def _issues(stars: int, rng: Random) -> tuple[Issue, ...]:
    """None for 5 stars, at most one for 3 and 4, one or two for 1 and 2."""
    chances = {5: (1.0, 0.0), 4: (0.6, 0.4), 3: (0.35, 0.65), 2: (0.0, 0.75), 1: (0.0, 0.6)}[stars]
    draw = rng.random()
    count = 0 if draw < chances[0] else 1 if draw < sum(chances) else 2
    return tuple(rng.sample(ISSUES, count))


def _plan(stars: int, issues: tuple[Issue, ...], rng: Random) -> list[Bank]:
    """The banks of one to three sentences, the one that names the product first."""
    first = BANKS["elogio" if stars >= 4 else "morno"]
    banks = [issue.bank for issue in issues]
    if stars >= 3:
        banks = [first, *banks]
    if stars >= 4 and len(banks) == 1 and rng.random() < 0.5:
        banks.append(BANKS["agrado"])
    if len(banks) < 3 and rng.random() < 0.5:
        banks.append(BANKS["volta" if stars >= 4 else "duvida" if stars == 3 else "adeus"])
    return banks


def _sentence(template: str, slots: dict[str, str], rng: Random) -> str:
    text = template.format(n=rng.randint(2, 20), **slots)
    return text[0].upper() + text[1:]
