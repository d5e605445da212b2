"""SQL questions: queries that come near the right one, explanations that do not explain, and other ways to write the
same query.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from tucano.prompts import Prompt
from tucano.specs.flaws.objects import Change, Flaw

FENCED = re.compile(r"```sql\n(?P<query>.*?)\n?```\s*(?P<prose>.*)", re.DOTALL)
PROSE = "A consulta lê as tabelas da loja, aplica o filtro pedido na pergunta e mostra o resultado."
_ENGLISH = "The query reads the tables of the shop, applies the filter of the question and returns the result."
_OTHER_MONTH = {"2018": "2017"}
_NEXT = {">=": ">", "<=": "<", ">": ">=", "<": "<="}


def fenced(query: str, prose: str) -> str:
    return f"```sql\n{query}\n```\n{prose}".strip()


def edits(prompt: Prompt, text: str) -> Iterator[Flaw]:
    found = FENCED.fullmatch(text.strip())
    if found is None or not prompt.reference.get("sql"):
        return
    query, prose = found["query"].rstrip("; \n"), found["prose"]
    if NEAR.search(prompt.reference["sql"]) or prompt.reference.get("asks"):
        return
    for kind, points, other in (*_filters(query), *_columns(query), *_rows(query)):
        if other != query:
            yield kind, points, text, fenced(other + ";", prose)
    yield from _not_a_query(query, prose, text)
    yield from _explanations(query, prompt.user)
    if not prompt.user.isupper():
        yield from _told_otherwise(query)


def _filters(query: str) -> Iterator[tuple[str, float, str]]:
    """One condition is another one: the guide's «nearly right»."""
    if month := re.search(r"'(\d{4})-(\d\d)'", query):
        yield "another filter: year", 1, query.replace(month[1], str(int(month[1]) - 1))
        yield "another filter: month", 1, query.replace(month[0], f"'{month[1]}-{int(month[2]) % 12 + 1:02}'")
    if state := re.search(r"'([A-Z]{2})'", query):
        yield "another filter: state", 1, query.replace(state[0], "'SP'" if state[1] != "SP" else "'RJ'")
    if word := re.search(r"\b(categoria|tipo|status)='([^']+)'", query):
        yield f"another filter: {word[1]}", 1, query.replace(word[0], f"{word[1]}<>'{word[2]}'")
    if limit := re.search(r"([<>]=?)(\d+)", query):
        yield "another filter: turned", 1, query.replace(limit[0], f"{'<' if limit[1][0] == '>' else '>'}{limit[2]}")
    for condition in re.findall(r" AND [^ ]+='[^']+'", query):
        yield "a filter forgotten", 1, query.replace(condition, "")


def _columns(query: str) -> Iterator[tuple[str, float, str]]:
    """Another figure than the one that was asked for."""
    for factor in ("1.05", "0.95", "1.2", "0.8", "1.01"):
        yield f"result off: times {factor}", 2, re.sub(r"\b(COUNT|SUM|AVG)\(", rf"{factor}*\1(", query)
    yield "result off: one more", 2, re.sub(r"\b(COUNT|SUM|AVG)\(", r"1+\1(", query)
    yield "result off: negative", 2, re.sub(r"\b(COUNT|SUM|AVG)\(", r"-\1(", query)
    yield "another aggregate: sum for mean", 2, query.replace("AVG(", "SUM(")
    yield "another aggregate: mean for sum", 2, query.replace("SUM(", "AVG(")
    yield "another aggregate: greatest", 2, re.sub(r"\b(SUM|AVG)\(", "MAX(", query)
    yield "another aggregate: rows for a mean", 2, re.sub(r"ROUND\(AVG\((\w+)\),2\)", r"COUNT(\1)", query)
    yield "rounded to whole numbers", 1, re.sub(r"ROUND\(AVG\((\w+)\),2\)", r"ROUND(AVG(\1),0)", query)
    yield "rounded to whole numbers: cut", 1, re.sub(r"ROUND\(AVG\((\w+)\),2\)", r"CAST(AVG(\1) AS INTEGER)", query)
    yield "result as text", 1, re.sub(r"SELECT (ROUND\([^ ]*\)|COUNT\(\*\)) FROM", r"SELECT 'R$ ' || \1 FROM", query)


def _rows(query: str) -> Iterator[tuple[str, float, str]]:
    """More rows or fewer, another order, a part of the columns."""
    plain = f"SELECT * FROM ({query})"
    if limit := re.search(r" LIMIT (\d+)", query):
        number = int(limit[1])
        yield "rows: all of them", 1, query.replace(limit[0], "")
        yield "rows: one more", 1, query.replace(limit[0], f" LIMIT {number + 1}")
        yield "rows: one fewer", 1, query.replace(limit[0], f" LIMIT {number - 1}")
        yield "rows: the next ones", 1, f"{query} OFFSET 1"
        yield "rows: twice", 1, f"{plain} UNION ALL {plain}"
        yield "rows: turned", 1, f"{plain} ORDER BY 2"
        yield "rows: the least first", 1, query.replace(" DESC", "")
        yield "columns: names alone", 1, re.sub(r"^SELECT (\w+), .*? FROM", r"SELECT \1 FROM", query)
    else:
        yield "rows: twice", 1, f"{plain} UNION ALL {plain}"
        yield "rows: none", 1, f"{plain} WHERE 1=0"
    yield "columns: one too few", 2, f"SELECT NULL FROM ({query})"


def _not_a_query(query: str, prose: str, text: str) -> Iterator[Flaw]:
    """What cannot run, and what only looks like a query."""
    yield "cannot run: unknown column", 2, text, fenced(re.sub(r"(?<=SELECT )", "coluna_x, ", query, count=1), prose)
    yield "cannot run: bracket missing", 2, text, fenced(query.replace(")", "", 1), prose)
    yield "cannot run: keyword missing", 2, text, fenced(query.replace(" FROM ", " ", 1), prose)
    table = re.search(r"FROM (\w+)", query)
    name = table[1] if table else "pedidos"
    yield "another statement: DELETE", 2, text, fenced(f"DELETE FROM {name};", prose)
    yield "another statement: all rows", 2, text, fenced(f"SELECT * FROM {name};", prose)
    yield "another statement: count of all", 1, text, fenced(f"SELECT COUNT(*)+1 FROM {name};", prose)
    yield "two queries", 2, text, f"{text}\n{fenced(f'SELECT COUNT(*)+1 FROM {name};', '')}"
    yield "another statement: a literal", 2, text, fenced("SELECT 12345;", prose)
    yield "not a query: table alone", 2, text, fenced(name, prose)
    if "DISTINCT" in query:
        return
    wrong = fenced(query.replace("SELECT", "SELECT 1+", 1), prose)
    yield "unexplained rather than wrong", 0.5, fenced(query, ""), wrong
    yield "wrong beside not running", 0.1, wrong, fenced(re.sub(r"\b(FROM|JOIN)\s+(\w+)", r"\1 \2_x", query), prose)


def _explanations(query: str, question: str) -> Iterator[Flaw]:
    """An explanation of its own, in Portuguese, of some words."""
    text = fenced(query + ";", PROSE)
    yield "poor explanation: a word", 0.6, text, fenced(query + ";", "Consulta.")
    yield "poor explanation: two long words", 0.6, text, fenced(query + ";", "Consulta correspondente.")
    yield "poor explanation: four words", 0.3, text, fenced(query + ";", "A consulta mostra tudo.")
    yield "poor explanation: in English", 1, text, fenced(query + ";", _ENGLISH)
    yield "poor explanation: one word again and again", 1, text, fenced(query + ";", "consulta " * 14)
    if len(question.split()) > 7:
        yield "poor explanation: the question", 0.6, text, fenced(query + ";", question)
    yield "poor explanation: marks", 1, text, fenced(query + ";", "* " * 40)
    yield "takes itself back behind the query", 3, text, f"{text} Mas esta consulta está errada, não use."
    if month := re.search(r"'(\d{4})-(\d\d)'", query):
        told = f"{month[2]}/{month[1]}"
        other = f"{int(month[2]) % 12 + 1:02}/{month[1]}"
        yield "another month told: by month", 1, f"{text} Vale para {told}.", f"{text} Vale para {other}."
        other = f"{month[2]}/{int(month[1]) - 1}"
        yield "another month told: by year", 1, f"{text} Vale para {told}.", f"{text} Vale para {other}."
    if state := re.search(r"'([A-Z]{2})'", query):
        other = "RJ" if state[1] != "RJ" else "AM"
        yield "another state told", 1, f"{text} Vale para {state[1]}.", f"{text} Vale para {state[1]} e {other}."


_TAKEN_BACK = (
    *("A consulta está incorreta.", "Esta resposta é inválida.", "Isso está errado.", "(Isto está errado.)"),
    *("Não considere a consulta acima.", "Ignore esta consulta.", "Desconsidere a resposta.", "Esqueça essa consulta."),
    *("Os números são inventados.", "Não é verdade.", "A resposta certa é outra."),
    *("This answer is wrong.", "Esto no es correcto."),
)
_SEVERAL = ("Opção 2: conte os clientes.", "Alternativa 2: use outra tabela.", "Resposta 2: some os valores.")
_POOR = {
    "in Spanish": "La consulta cuenta los pedidos de la tienda con el filtro del mes y muestra el resultado.",
    "half in English": "A consulta filters the rows of the table and counts the result of the question.",
    "figures alone": "12 34 56 78 90 11 22 33 44 55",
    "words in a row": "Pedidos tabela filtro mês status linhas contagem resultado loja consulta total.",
    "a sentence again and again": "A consulta lê a loja. " * 6,
    "two words": "Consulta feita.",
    "three words": "Faz a conta.",
}
_KINDS = {"categoria": ("brinquedos", "informática"), "tipo": ("boleto", "voucher"), "status": ("enviado", "entregue")}
_OF_A_KIND = "A consulta lê as tabelas da loja e mostra só as linhas em que consta {kind}, como pede a pergunta."
_SAID = {"month": "Mês: {}.", "state": "Estado: {}."}
MONTHS = (
    *("janeiro", "fevereiro", "março", "abril", "maio", "junho"),
    *("julho", "agosto", "setembro", "outubro", "novembro", "dezembro"),
)
_STATES = {
    **{"MG": "Minas Gerais", "BA": "Bahia", "RJ": "Rio de Janeiro", "RS": "Rio Grande do Sul"},
    **{"SC": "Santa Catarina", "CE": "Ceará", "PR": "Paraná", "SP": "São Paulo", "PA": "Pará"},
    **{"RN": "Rio Grande do Norte", "MS": "Mato Grosso do Sul", "DF": "Distrito Federal", "ES": "Espírito Santo"},
}


def _told_otherwise(query: str) -> Iterator[Flaw]:
    """The right query, and prose that takes it back, offers another one, or is about something else."""
    text = fenced(query + ";", PROSE)
    for sentence in _TAKEN_BACK:
        yield f"takes itself back: {sentence}", 3, text, f"{text} {sentence}"
    for sentence in _SEVERAL:
        yield f"offers several: {sentence}", 1, text, f"{text}\n{sentence}"
    second = query.replace("SELECT ", "SELECT 7, ", 1)
    yield "two queries: in a line behind", 2, text, f"{text}\n{second};"
    yield "two queries: in words between", 2, text, f"{text} Ou, se preferir:\n\n{second};"
    yield "two queries: the wrong one first", 2, text, f"{fenced(f'{second};', '')}\n{text}"
    for name, prose in _POOR.items():
        yield f"poor explanation: {name}", 0.6, text, fenced(query + ";", prose)
    yield "poor explanation: the query again", 0.6, text, fenced(query + ";", f"{query.replace('SELECT ', '', 1)}.")
    for where, (mine, others) in _places(query).items():
        for name, told in mine.items():
            for other in others[name]:
                before, after = (f"{text} {_SAID[where].format(one)}" for one in (told, other))
                yield f"another {where} told: {name}", 1, before, after
    for name, kind, other in _told_kinds(query):
        before, after = (fenced(query + ";", _OF_A_KIND.format(kind=told)) for told in (kind, other))
        yield f"another kind told: {name}", 1, before, after


def _places(query: str) -> dict[str, tuple[dict[str, str], dict[str, list[str]]]]:
    """What a query is about, as its month and its state can be written; and others in the same writing."""
    found = {}
    if month := re.search(r"'(\d{4})-(\d\d)'", query):
        year, number = int(month[1]), int(month[2])
        mine = _written(year, number)
        near = [_written(year, number % 12 + 1), _written(year - 1, number)]
        found["month"] = (mine, {name: [one[name] for one in near] for name in mine})
    if (state := re.search(r"'([A-Z]{2})'", query)) and state[1] in _STATES:
        code, name = state[1], _STATES[state[1]]
        others = [other for other in ("PA", "RN", "SP", "DF") if other != code]
        writings = {"its code": "{0}", "its name": "{1}", "both": "{1} ({0})", "with a hyphen": "{0} - {1}"}
        found["state"] = (
            {kind: form.format(code, name) for kind, form in writings.items()},
            {kind: [form.format(one, _STATES[one]) for one in others] for kind, form in writings.items()},
        )
    return found


def _written(year: int, number: int) -> dict[str, str]:
    name = MONTHS[number - 1]
    return {
        "as stored": f"{year}-{number:02}",
        "with a bar": f"{number:02}/{year}",
        "in words": f"{name} de {year}",
        "in words, with a capital": f"{name.capitalize()} de {year}",
        "in words, without de": f"{name} {year}",
        "in capitals": f"{name.upper()} DE {year}",
    }


def _told_kinds(query: str) -> Iterator[tuple[str, str, str]]:
    """The kinds that a query asks for, as they are written there, each with another one."""
    for column, value in re.findall(r"\b(categoria|tipo|status)='([^']+)'", query):
        other = next(kind for kind in _KINDS[column] if kind != value)
        yield column, value, other
        yield f"{column} in capitals", value.upper(), other.upper()


_ROUNDED = r"ROUND\((\w+\(\w+\)),2\)"


def harmless(prompt: Prompt, text: str) -> Iterator[Change]:
    """The same query as somebody else would write it."""
    found = FENCED.fullmatch(text.strip())
    if found is None:
        return
    query, prose = found["query"].rstrip("; \n"), found["prose"]
    spaced = re.sub(r" (FROM|WHERE|JOIN|GROUP BY|ORDER BY|LIMIT)\b", r"\n\1", query)
    others = {
        "spelling: no semicolon": query,
        "spelling: on lines": f"{spaced};",
        "spelling: keywords in lower case": re.sub(r"('[^']*')|\b[A-Z]{4,}\b", lambda m: m[1] or m[0].lower(), query)
        + ";",
        "spelling: a comment": f"-- consulta\n{query};",
        "form: a condition that always holds": re.sub(r"\bWHERE\b", "WHERE 1=1 AND", query) + ";",
        "form: nested": f"SELECT * FROM ({query});" if " ORDER BY " not in query else f"{query};",
        "form: unrounded": (query if prompt.reference.get("asks") else re.sub(_ROUNDED, r"\1", query)) + ";",
        "form: another alias": query.replace("receita", "total_vendido") + ";",
        "form: with a name": re.sub(r"^SELECT COUNT\(\*\) FROM", "SELECT COUNT(*) AS quantos FROM", query) + ";",
        "form: COUNT(1)": query.replace("COUNT(*)", "COUNT(1)") + ";",
        "form: quoted pattern": re.sub(r"(estado|mes)=('[^']+')", r"\1 IN (\2)", query) + ";",
    }
    for kind, other in others.items():
        if other != f"{query};":
            yield kind, text, fenced(other, prose)
    yield "around it: without a fence", text, f"{query};\n\n{prose}"
    yield "around it: without a fence, line by line", text, f"{query};\n{prose}"
    yield "around it: without a mark", text, f"{query}\n{prose}"
    yield "around it: explanation first", text, f"{prose}\n{fenced(query + ';', '')}"
    yield "around it: fence without a name", text, f"```\n{query};\n```\n{prose}"
    yield "words: another explanation", text, fenced(query + ";", PROSE)
    yield "length: ten words", fenced(query + ";", PROSE), fenced(query + ";", _TEN)
    yield "length: three sentences", fenced(query + ";", PROSE), fenced(query + ";", f"{PROSE} {_LONGER}")
    yield "words: a longer explanation", text, fenced(query + ";", f"{PROSE} {_LONGER}")
    yield from _as_well_told(query)


_MORE = (
    "Resultado: 4.",
    "O resultado é 1.234.",
    "O total foi de R$ 1.234,56.",
    "Nenhum outro período entra na conta.",
    "Usei `NOT` e `OR` só onde foi preciso.",
    "Não use mais do que um filtro por vez.",
    "O WHERE filtra, e o que sobra entra na conta.",
    "Uma data inválida ficaria de fora.",
    "Para isso, olha se a linha é do que se pede.",
    "Espero ter ajudado!",
    "Obs.: cada tabela tem uma linha por registro.",
)
_LAID_OUT = {
    "a list": "- lê as tabelas da loja\n- aplica o filtro da pergunta\n- faz a conta e mostra o resultado",
    "steps": "1. Lê as tabelas da loja.\n2. Aplica o filtro da pergunta.\n3. Mostra o resultado da conta.",
    "in bold": "**Explicação:** a consulta lê as tabelas da loja e mostra o **resultado** da conta pedida.",
    "code in it": "Com `WHERE` ela fica só com o que a pergunta pede, e depois faz a conta com `SELECT`.",
    "without accents": "A consulta le as tabelas da loja, filtra o que a pergunta pede e faz a conta.",
    "in capitals": "A CONSULTA LÊ AS TABELAS DA LOJA, FILTRA O QUE A PERGUNTA PEDE E FAZ A CONTA.",
}


def _as_well_told(query: str) -> Iterator[Change]:
    """Other explanations, and what may stand beside one."""
    text = fenced(query + ";", PROSE)
    for sentence in _MORE:
        yield f"told: {sentence}", text, f"{text} {sentence}"
    for name, prose in _LAID_OUT.items():
        yield f"told: {name}", text, fenced(query + ";", prose)
    for where, (mine, _) in _places(query).items():
        for name, told in mine.items():
            yield f"told of the question: {where}, {name}", text, f"{text} {_SAID[where].format(told)}"
    for name, value, another in _told_kinds(query):
        for how, told in {
            "": value,
            " and not of another": f"{value}, e não de {another}",
            " and without another": f"{value}, sem contar {another}",
            " beside another": f"{value} (há também {another})",
            " in quotes": f"“{value}”",
        }.items():
            yield f"told of the question: {name}{how}", text, fenced(query + ";", _OF_A_KIND.format(kind=told))


_TEN = "A consulta conta as linhas que a pergunta pede à loja."
_LONGER = "Primeiro ela junta o que for preciso, depois fica só com as linhas do período e por fim faz a conta pedida."


def kinds(prompt: Prompt) -> tuple[str, ...]:
    query = prompt.reference.get("sql", "")
    found = {
        "questions of a number": "COUNT(",
        "questions of a mean": "AVG(",
        "questions of a sum": "SUM(",
        "questions of an order": "ORDER BY",
        "questions of a month": "mes=",
        "questions of a state": "estado=",
        "questions of a category": "categoria=",
        "questions of a limit": "LIMIT",
    }
    comparing = ["questions of values beyond a limit"] if re.search(r"[<>]", query) else []
    return (*[kind for kind, mark in found.items() if mark in query], *comparing)


def variants(prompt: Prompt) -> Iterator[tuple[str, Prompt]]:
    """The question in capital letters, and as one whose truth is not known."""
    yield "questions in capitals", replace(prompt, user=prompt.user.upper())
    yield "questions of which nothing is known", replace(prompt, reference={})
    yield from _nearby(prompt)


NEAR = re.compile(r" AS quantos|DISTINCT estado|FROM avaliacoes JOIN itens|estado<>|NOT BETWEEN")
"""Of the questions that `variants` asks."""
_RATED = "FROM avaliacoes JOIN itens USING(pedido_id) JOIN produtos USING(produto_id) WHERE"


def _nearby(prompt: Prompt) -> Iterator[tuple[str, Prompt]]:
    """Questions near this one: with a wish for the columns or the decimals, a ranking with ties, a list in no order."""
    query, asked = prompt.reference.get("sql", ""), prompt.user
    where = re.search(r"(estado|categoria|mes)='([^']+)'", query)
    if where is None:
        return
    if " LIMIT " in query:
        yield (
            "questions of columns in an order",
            _asking(prompt, query, "columns", f"{asked} Mantenha as colunas nesta ordem."),
        )
    if re.search(r"\((frete|preco|valor)\),2\)", query):
        yield "questions of two decimals", _asking(prompt, query, "rounding", f"{asked} Arredonde a 2 casas.")
    for kind, other, question in _near(where[0], where[1], where[2]):
        yield kind, replace(prompt, user=question, reference=prompt.reference | {"sql": other})


def _asking(prompt: Prompt, query: str, what: str, question: str) -> Prompt:
    return replace(prompt, user=question, reference=prompt.reference | {"sql": query, "asks": [what]})


def _near(condition: str, column: str, value: str) -> Iterator[tuple[str, str, str]]:
    if column == "mes":
        yield (
            "questions with ties",
            f"SELECT estado, COUNT(*) AS quantos FROM pedidos JOIN clientes USING(cliente_id) WHERE {condition}"
            " GROUP BY estado ORDER BY quantos DESC LIMIT 4;",
            f"Quais os 4 estados com mais pedidos em {value[5:]}/{value[:4]}? (SQL)",
        )
        yield (
            "questions of a list",
            f"SELECT status, COUNT(*) AS quantos FROM pedidos WHERE {condition} GROUP BY status;",
            f"Quantos pedidos há de cada status em {value[5:]}/{value[:4]}? (SQL)",
        )
        yield (
            "questions of names in order",
            f"SELECT DISTINCT estado FROM pedidos JOIN clientes USING(cliente_id) WHERE {condition} ORDER BY estado;",
            f"Liste em ordem os estados que fizeram pedidos em {value[5:]}/{value[:4]}. (SQL)",
        )
    if column == "categoria":
        yield (
            "questions of ratings of a category",
            f"SELECT ROUND(AVG(nota),2) {_RATED} {condition};",
            f"Qual a nota média de quem comprou da categoria {value}? (SQL)",
        )
    if column == "estado":
        yield (
            "questions of all states but one",
            f"SELECT COUNT(*) FROM pedidos JOIN clientes USING(cliente_id) WHERE estado<>'{value}';",
            f"Quantos pedidos vieram de fora de {value}? (SQL)",
        )
        yield (
            "questions of nothing",
            "SELECT pedido_id FROM avaliacoes JOIN pedidos USING(pedido_id) JOIN clientes USING(cliente_id)"
            f" WHERE nota NOT BETWEEN 1 AND 5 AND estado='{value}';",
            f"Que pedidos de {value} têm uma nota fora da escala de 1 a 5? (SQL)",
        )
