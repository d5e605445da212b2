"""What a search found that earned much and that nobody would accept; and a small search, which shall find little."""

from collections.abc import Iterator
from random import Random
from time import process_time

import pytest
from historic_bugs import examiner
from pace import slowness
from rewards_examples import PROMPTS

from rewards import load_reward_set
from rewards.parsing.fluency import sentences
from rewards.parsing.kinds import clash
from rewards.parsing.objects import FRAMED, REPAIRED, SCRAPS, wholeness
from rewards.parsing.text import without_copies
from tucano.audit.attacks.findings import search_for, unborrowed
from tucano.audit.bench import Bench, Group, grouped
from tucano.prompts import Prompt, Task

LOW = 0.30
CALLS = 500
"""Per task, shared by five prompts."""
MOST = {"extraction": 2, "sql_qa": 0, "insights": 5, "push": 5, "sentiment": 3, "churn": 3}
"""How many of the fifty best texts may earn more than .30: those of one search, which end alike. Of an object whose right
half was found some do; they are answers, if unlikely ones.
"""
OBJECT = '{"sentiment": "negative", "sentiment_score": 2}'


def push(product: str, offer: str, *figures: float) -> Prompt:
    reference = {"product": product, "terms": [product], "figures": list(figures)}
    return Prompt("p", "push", f"Crie um push para: {product}. {offer}", "t", "s", "CC0-1.0", reference=reference)


@pytest.mark.parametrize(
    ("text", "worth"),
    [
        (OBJECT, 1.0),
        (f"```json\n{OBJECT}\n```", 1.0),
        (f"Segue o JSON: {OBJECT}", FRAMED),
        (f"Resultado da avaliação: {OBJECT}", FRAMED),
        (f"{OBJECT}\nO cliente reclama do prazo.", FRAMED),
        (OBJECT[:-1], REPAIRED),
        (OBJECT[:-15], REPAIRED),
        (OBJECT.replace('"', "'"), REPAIRED),
        (OBJECT.replace('"', ""), REPAIRED),
        (OBJECT[:-1] + ",}", REPAIRED),
        (OBJECT + "}", SCRAPS),
        (OBJECT + ' "negative",', SCRAPS),
        (f"{OBJECT}\n{OBJECT}", SCRAPS),
        (f'"sentiment_score": {OBJECT}', SCRAPS),
        (OBJECT[:-1] + ', "sentiment": "positive"}', SCRAPS),
        ('{"churn_risk": "low", "probability": "low", "probability": 0.25} "high",', SCRAPS),
        ('{"sentiment": "positive", é Vou comprar excelente armário, o Adorei o', SCRAPS),
        ('"sentiment_score": "sentiment_score": 2} "negative", recomendo. Não recomendo.', SCRAPS),
    ],
)
def test_what_stands_around_an_object_counts(text: str, worth: float) -> None:
    assert wholeness(text) == worth


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        (push("lençol", "Desconto: 51%.", 51), "💛\nPush coração para hoje, só para lençol. 51%. Você Promoção curto"),
        (push("celular", "Preço: R$ 313.", 313), "aproveite de celular. 313."),
        (push("capinha", "Preço: R$ 99.", 99), "de capinha. 99. Vem ver! 🚗"),
        (push("fralda", "Preço: R$ 41.", 41), "um fralda. Temos nossa novidades R$ 🎉 Corra e 41."),
        (push("notebook", "Desconto: 24%.", 24), "Sua oferta com o pneu e notebook. Desconto: 24%."),
        (push("notebook", "Desconto: 24%.", 24), "notebook. é só coração hoje, só 24%."),
        (push("maquiagem", "Oferta: frete grátis."), "Vem de maquiagem. Seu pet de uma notificação hoje?"),
        (push("fronha", "Cupom: VOLTEI."), "Você aproveite, desconto, não é já, fronha. Cupom: só hoje, coração 💛"),
        (push("câmera", "Preço: R$ 99.", 99), "💛 Você não sobre câmera. Você aproveite, só hoje, coração 💛"),
        (push("capacete", "Cupom: SURPRESA."), "Promoção gastar capacete. Cupom: oferta, desconto, coração hoje 💛"),
        (
            push("panela", "Oferta: frete grátis."),
            "Você não já, poupe as já, oferta, panela. Frete só hoje, coração 💛",
        ),
    ],
)
def test_pushes_made_of_scraps_earn_little(prompt: Prompt, text: str) -> None:
    assert load_reward_set("grounded").score(prompt, text).total <= LOW


@pytest.mark.parametrize(
    "text",
    [
        "recompra 23,5% pedidos 1.234\n# Ações\n- recomendar melhorar aumentar reduzir investir cupom\n- implementar",
        "o pedidos 1.234; recompra 23,5%; Recomendamos responder às Env um cupom devolvidos.\n- Sugiro.\n- Priorize",
        "atraso e atraso 8,0%; pedidos 1.234. Recomendo frete equipe.\n- Recomendo recompra 23,5%; equipe.\n- Recomendo",
        f"{PROMPTS['insights'].user}\n- Recomendo acompanhar estes indicadores.\n- Priorize o mais fraco.",
    ],
)
def test_insights_made_of_scraps_earn_little(text: str) -> None:
    assert load_reward_set("grounded").score(PROMPTS["insights"], text).total <= LOW


def test_runs_of_the_brief_are_left_out() -> None:
    source = "um dois tres quatro cinco seis sete oito nove"
    assert without_copies(f"antes {source} depois", source, 7).split() == ["antes", "depois"]
    assert without_copies("antes um dois tres quatro depois", source, 7) == "antes um dois tres quatro depois"


def test_neighbours_that_disagree_are_seen() -> None:
    found = [next(sentences(text)) for text in ("um nova oferta", "as loja", "fralda loja", "vem maquiagem")]
    assert all(clash(*sentence[-2:]) or clash(*sentence[:2]) for sentence in found)
    assert not clash(*next(sentences("uma loja")))


# A small search


@pytest.fixture(scope="module")
def groups() -> Iterator[dict[str, tuple[Bench, list[Group]]]]:
    with examiner() as exam:
        found = {}
        for task in MOST:
            bench = Bench(load_reward_set("grounded", exam.databases))
            found[task] = (bench, grouped(bench, [a for a in exam.rated.answers if a.prompt.task == task]))
        yield found


@pytest.mark.parametrize("task", MOST)
def test_a_small_search_finds_little(groups: dict[str, tuple[Bench, list[Group]]], task: Task) -> None:
    bench, of_task = groups[task]
    rng = Random(f"1/{task}")
    best = []
    for group in rng.sample(of_task, 5):
        best += unborrowed(search_for(bench, group, of_task, rng).run(CALLS // 5))[:10]
    assert sum(found.score > LOW for found in best) <= MOST[task], [found for found in best if found.score > LOW]


def seconds(text: str) -> float:
    """CPU time that `grounded` takes for it as insights, the best of three."""
    rewards = load_reward_set("grounded")
    best = float("inf")
    for _ in range(3):
        began = process_time()
        rewards.score(PROMPTS["insights"], text)
        best = min(best, process_time() - began)
    return best


@pytest.mark.parametrize("unit", ["! ", "1. a\n", "medir o prazo; ", "nota média de "])
def test_a_longer_text_takes_no_more_than_its_share(unit: str) -> None:
    """A pattern that began anew at each mark took half a second for 4,000 characters. One that is quadratic takes 16
    times as long for a text of four times the length: 8 leaves a busy machine a factor of two, either way.
    """
    assert seconds((unit * 2000)[:3900]) < 8 * seconds((unit * 2000)[:975]) + 0.005 * slowness()
