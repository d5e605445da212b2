"""What a summary of a review is worth: it tells of this review, not its opposite, and more than a label."""

import re
from itertools import pairwise

from rewards.parsing.fluency import CLASH, stream
from rewards.parsing.text import PORTUGUESE, any_of, fold, is_nonsense, sound, spelled, words
from rewards.types import PromptLike, clip
from rewards.wording.troubles import praise_and_blame

NONSENSE = 0.35
OPPOSED = 0.25
TURNED = 0.5
OTHER_NAME = 0.5
OTHER_THING = 0.75
LABEL = 0.88
INVENTED = 0.6
"""Credit of an object whose summary is no words, says the opposite of its review or also that, names another thing
(«Cliente satisfeito com o travesseiro»), has nothing of its review or is none, only labels, or has a number that its
review has not. Of 168 answers rated 4 108 have a label, of 235 rated 5 seven."""
DISORDERED = 0.75
"""Credit of one whose summary is words in no order, which people give a 3."""
ORDER = (-0.25, -0.15)
"""Its mean worth in the order model, without accents and agreement, up to which it is, and from which on it reads."""
QUOTED = 0.5
"""Share of its pairs of words that stand so in the review, from which on the review's own order is told."""
FEWEST_IN_ORDER = 6
"""Words that have an order, beside those that name what somebody felt («Cliente elogia: ...»)."""
_NUMBER = re.compile(r"\d{1,9}")
MOST_NUMBERS = 20
_SMALL = ("zero", "um", "dois", "tres", "quatro", "cinco", "seis", "sete", "oito", "nove", "dez")
FEWEST = 4
"""Different words of a review that a summary could take up."""
ALL_OTHERS = 9
"""Fields of a reference that holds every one but the summary, of which there are many good ones: it is asked for."""
LONGEST_LABEL = 3
"""Words of a label beside the feeling and the complaint: those that name its thing."""
_OF_A_THING = re.compile(
    r"\b(?:gostou|reclama|(?:in)?satisfeit[oa]|neutr[oa]|content[ea]|elogia)(?: com| sobre|:)?"
    r" (?:[ao]s?|d[aeo]s?) ([a-z]{4,})"
)
"""What somebody is said to be content with or not."""
_ANY_ORDERS = any_of("""
    client* consum* avali* compr* produt* loja* vend* pedid* entreg* atend* embal* prazo* frete* preco* valor* qualid*
    servi* item* aparel* peca* materi* tamanh* troca* experi* devol* acab* aspect* aparen* desem* funci* resul* envio*
    rapid* transp* custo* confor* otim* pessim* demora atras* defeito* problema* falta
    """)
"""What any order has."""
_QUALITY = re.compile(r"(?!maquiagem|racao)\w+(?:eza|cao|coes|dade|ncia|mento|agem|idao)")
"""And what is no thing («agilidade»)."""
_LITTLE = re.compile(r"z?inh([oa])s?$")
_HEDGED = any_of("mas porem apesar embora ate antes quando")
_FEELS = any_of("""
    satisf* insat* neutr* reclama gostou aponta content*
    """)
_TELLS = re.compile(r"\w{3,}(?:ou|iu|eu|[ae]ram|ava)")
"""What happened."""
_OF_ANY = any_of("client* consum* compr* produt* loja* avali* pedid* reclama fala sobre")


def summary_worth(summary: object, complaint: object, prompt: PromptLike) -> float:
    """What a summary leaves of all credit, in [.25, 1]; none costs as much as one of something else, so that spoiling
    it never pays."""
    fields = prompt.reference.get("fields", {})
    told = f"{prompt.user} {fields.get('summary', '')}"
    is_asked = "summary" in fields or len(fields) >= ALL_OTHERS
    if len(fields) < 2 or len(set(words(told))) < FEWEST or (summary is None and not is_asked):
        return 1.0
    if not isinstance(summary, str):
        return OTHER_THING
    if names_another(summary, told):
        return OTHER_NAME
    known = {word[:5] for word in words(told)}
    telling = [word for word in words(summary) if len(word) > 2 and word not in PORTUGUESE and not _OF_ANY.match(word)]
    topics = [word[:5] in known for word in telling if _ANY_ORDERS.match(word)]
    is_own = any(word[:5] in known for word in telling if not _ANY_ORDERS.match(word))
    is_apart = not is_own and (not any(topics) or topics.count(False) > 1)
    if is_apart and is_nonsense(summary):
        return NONSENSE
    if turned := _is_opposed(summary, prompt.user, fields):
        return turned
    if invents(f"{summary} {complaint}", prompt.user):
        return INVENTED
    plain = OTHER_THING if is_apart else LABEL if _is_label(summary, complaint) else 1.0
    return min(plain, in_order(summary, prompt.user))


def in_order(summary: str, review: str) -> float:
    """Credit of a summary by how well its words stand in an order that occurs, and are words, in [.75, 1]; the order of
    what is told in the words of its review is not asked."""
    said = words(summary.rpartition(":")[2])
    pairs, known = [*pairwise(said)], {*pairwise(words(review))}
    reads = sound(summary, review)
    if len(said) >= FEWEST_IN_ORDER and sum(pair in known for pair in pairs) < QUOTED * len(pairs):
        worth = [0.0 if place == CLASH else place for sentence in stream(spelled(summary)) for place in sentence]
        least, enough = ORDER
        reads = min(reads, clip((sum(worth) / max(1, len(worth)) - least) / (enough - least)))
    return DISORDERED + (1 - DISORDERED) * reads


def invents(said: str, review: str) -> bool:
    """Whether a text has a whole number above ten that its review has not, in digits or in words, nor as the sum or
    difference of two."""
    digits = [int(number) for number in _NUMBER.findall(spelled(review))]
    known = [*digits, *(_SMALL.index(word) for word in words(review) if word in _SMALL)][:MOST_NUMBERS]
    told = {*known, *(one + other for one in known for other in known), *(abs(a - b) for a in known for b in known)}
    return any(int(number) > 10 and int(number) not in told for number in _NUMBER.findall(spelled(said)))


def names_another(summary: object, told: str) -> bool:
    """Whether a summary says of whom it is about that he is content or not with a thing that nobody told of."""
    if not isinstance(summary, str):
        return False
    known = [_LITTLE.sub(r"\1", word).rstrip("s") for word in words(told) if len(word) > 2]
    named = [_LITTLE.sub(r"\1", noun).rstrip("s") for noun in _OF_A_THING.findall(fold(summary))]
    return any(
        not any(word.startswith(noun[:4]) or (len(word) > 3 and noun.startswith(word)) for word in known)
        for noun in named
        if not (_ANY_ORDERS.match(noun) or _QUALITY.fullmatch(noun))
    )


def _is_opposed(summary: str, review: str, fields: dict[str, object]) -> float:
    """Credit of a summary that blames where the review is content without a complaint, or praises where it is angry;
    0 for one that does not."""
    felt = str(fields.get("sentiment"))
    (praise, blame), (good, bad) = praise_and_blame(summary), praise_and_blame(review)
    if felt == "positive" and not fields.get("main_complaint"):
        return 0.0 if bad or not blame else OPPOSED if blame >= praise else TURNED
    is_turned = felt == "negative" and praise > 0 and not (good or _HEDGED.search(fold(summary)))
    return (TURNED if blame else OPPOSED) if is_turned else 0.0


def _is_label(summary: str, complaint: object) -> bool:
    """Whether a summary names somebody's feeling, a thing and the main complaint again, and tells nothing."""
    again = {word[:5] for word in words(str(complaint or ""))}
    felt = any(map(_FEELS.match, words(summary)))
    told = {word for word in words(summary) if len(word) > 3 and word[:5] not in again}
    rest = [word for word in told if not _FEELS.match(word) and not _OF_ANY.match(word)]
    tells = any(_TELLS.fullmatch(word) or _ANY_ORDERS.match(word) for word in rest) or _NUMBER.search(spelled(summary))
    return felt and len(rest) <= LONGEST_LABEL and not tells
