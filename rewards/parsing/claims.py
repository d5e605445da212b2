"""What an answer claims in figures, against what its prompt knows; shared by `grounded` and by the benchmark."""

from collections.abc import Iterable

from rewards.parsing.text import Figure, figures, occurs, words
from rewards.types import PromptLike


def claims(answer: str) -> list[Figure]:
    """The figures that assert something: all but whole numbers up to 10 without a unit («3 ações», «2 semanas»)."""
    return [figure for figure in figures(answer) if figure.marked or figure.value > 10 or figure.tolerance < 0.5]


def invented(found: Iterable[Figure], *known: Iterable[Figure | float]) -> int:
    """How many different figures show none of the known numbers."""
    numbers = [item.value if isinstance(item, Figure) else float(item) for group in known for item in group]
    return sum(not any(occurs(number, (figure,)) for number in numbers) for figure in set(found))


def insight_figures(prompt: PromptLike, answer: str) -> tuple[float, int, int]:
    """Share of the key figures that the answer shows, its invented figures, and its claims."""
    key = [float(number) for number in prompt.reference.get("key_figures", ())]
    shown = figures(answer)
    used = sum(occurs(number, shown) for number in key) / len(key) if key else 0.0
    asserted = claims(answer)
    return used, invented(asserted, figures(prompt.user), prompt.reference.get("figures", ()), key), len(asserted)


def push_figures(prompt: PromptLike) -> list[float]:
    """The numbers that a push may mention: its reference's, or without a reference its prompt's."""
    if prompt.reference:
        return [float(number) for number in prompt.reference.get("figures", ())]
    return [figure.value for figure in figures(prompt.user)]


def push_inventions(prompt: PromptLike, answer: str) -> int:
    """How many numbers of a push are neither allowed nor part of its product's name."""
    return invented(figures(answer), push_figures(prompt), figures(prompt.reference.get("product", "")))


def names_product(prompt: PromptLike, answer: str) -> bool:
    """Whether the answer contains the product's name or one of its terms as whole words, accents and case ignored."""
    text = f" {' '.join(words(answer))} "
    candidates = (prompt.reference.get("product", ""), *prompt.reference.get("terms", ()))
    return any(f" {' '.join(term)} " in text for term in map(words, candidates) if term)
