"""Every mark of the task classifier, alone and beside the marks of later tasks; and what only looks like a mark."""

import pytest

from rewards import classify_task

MARKS = {
    "extraction": [
        "Quero um JSON disto.",
        "Extraia os campos.",
        "É preciso extrair os campos.",
        "Extração dos campos.",
        "Avaliação: chegou quebrado",
        "[Nota 2] veio rasgado",
        "Categoria moda, nota 1. veio rasgado",
        "Categoria nota 1: veio rasgado",
        "Veio rasgado. Monte os campos.",
        "Ficha: moda, texto: veio rasgado",
    ],
    "sql_qa": [
        "Escreva em SQL.",
        "Leia a tabela pedidos.",
        "Leia as tabelas pedidos e itens.",
        "Consulte o banco de dados.",
        "CREATE TABLE pedidos(id)",
    ],
    "insights": [
        "Dê um insight.",
        "Quero insights.",
        "Análise do mês.",
        "Analise os números.",
        "O que recomenda?",
        "Plano de loja.",
        "Plano do mês.",
        "Faça o reengajamento.",
        "Diga o que fazer.",
        "Diga como melhorar.",
        "Diga como agir.",
        "Julho: recompra 7,1%; atraso de 8%. E agora?",
    ],
    "push": ["Crie um push.", "Uma notificação.", "Duas notificações."],
}


@pytest.mark.parametrize(("task", "text"), [(task, text) for task, texts in MARKS.items() for text in texts])
def test_one_mark_is_enough_and_the_earlier_task_wins(task: str, text: str) -> None:
    order = list(MARKS)
    later = order[order.index(task) + 1 :]
    assert classify_task(text) == task
    assert [classify_task(f"{text} {MARKS[other][0]}") for other in later] == [task] * len(later)


@pytest.mark.parametrize(
    "text",
    [
        "Um xjson disto.",
        "Um jsonx disto.",
        "Ele contraextrair.",
        "Elas extraiam tudo.",
        "A nossa avaliação: boa",
        "Hoje nota 5",
        "Avaliacoes: boas",
        "Avaliaçãox: boa",
        "Nota boa",
        "Categoria moda? nota 1",
        "Categoria moda, dezenota 1",
        "xsql e sqlx",
        "Leia a tabela.",
        "Etabela pedidos",
        "Obanco de dados, banco de dadosx",
        "xcreate table, create tablex",
        "Um xinsight, um insightx",
        "Xanalise, anali, analis",
        "xrecomenda",
        "xreengajar",
        "xo que fazer, o que fazerx",
        "xcomo agir, como agirx",
        "xplano de, plano dex, plano da",
    ],
)
def test_what_only_looks_like_a_mark_is_none(text: str) -> None:
    assert classify_task(f"{text} push") == "push"


@pytest.mark.parametrize("text", ["Um xpush", "Dois pushx", "Uma xnotificação", "Uma notificaçãox", "Quanto vendeu?"])
def test_what_shows_no_mark_is_a_question_about_the_store(text: str) -> None:
    assert classify_task(text) == "sql_qa"
