"""Whether a push has its product's name, word for word: what truth and tests ask. The reward: rewards/push.py."""

from rewards.parsing.text import words
from rewards.types import PromptLike


def names_product(prompt: PromptLike, answer: str) -> bool:
    """Whether the answer contains the product's name or one of its terms as whole words, accents and case ignored.

    A term that goes on otherwise than the name («fone de parede» for «fone de ouvido») is another product.
    """
    product = words(prompt.reference.get("product", ""))
    said = words(answer)
    for term in map(words, (prompt.reference.get("product", ""), *prompt.reference.get("terms", ()))):
        forms = (term, _plural(term)) if term and term == product else (term,)
        for place in range(len(said) - len(term) + 1 if term else 0):
            if said[place : place + len(term)] in forms and not _goes_on(said[place + len(term) :][:2], product):
                return True
    return False


def _plural(term: list[str]) -> list[str]:
    """Several of a thing («saias», «batons», «fones de ouvido»)."""
    head = term[0]
    several = f"{head[:-1]}ns" if head.endswith("m") else f"{head}es" if head.endswith(("r", "z")) else f"{head}s"
    return [several, *term[1:]]


def _goes_on(behind: list[str], product: list[str]) -> bool:
    """Whether a product's name has «de» in it, and another «de …» stands behind its first word."""
    of = product[1:3]
    return len(of) == len(behind) == 2 and of[0] == behind[0] == "de" and of[1] != behind[1]
