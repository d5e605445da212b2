"""SQL questions: queries that come near the right one, explanations that do not explain, and other ways to write the
same query.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from tucano.prompts import Prompt
from tucano.specs.flaws.objects import Change, Flaw

_FENCED = re.compile(r"```sql\n(?P<query>.*?)\n?```\s*(?P<prose>.*)", re.DOTALL)
_PROSE = "A consulta lê as tabelas da loja, aplica o filtro pedido na pergunta e mostra o resultado."
_ENGLISH = "The query reads the tables of the shop, applies the filter of the question and returns the result."
_OTHER_MONTH = {"2018": "2017"}
_NEXT = {">=": ">", "<=": "<", ">": ">=", "<": "<="}


def fenced(query: str, prose: str) -> str:
    return f"```sql\n{query}\n```\n{prose}".strip()


def edits(prompt: Prompt, text: str) -> Iterator[Flaw]:
    found = _FENCED.fullmatch(text.strip())
    if found is None or not prompt.reference.get("sql"):
        return
    query, prose = found["query"].rstrip("; \n"), found["prose"]
    for kind, points, other in (*_filters(query), *_columns(query), *_rows(query)):
        if other != query:
            yield kind, points, text, fenced(other + ";", prose)
    yield from _not_a_query(query, prose, text)
    yield from _explanations(query, prompt.user)


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
    wrong = fenced(query.replace("SELECT", "SELECT 1+", 1), prose)
    yield "unexplained rather than wrong", 0.5, fenced(query, ""), wrong
    yield "wrong beside not running", 0.1, wrong, fenced(re.sub(r"\b(FROM|JOIN)\s+(\w+)", r"\1 \2_x", query), prose)


def _explanations(query: str, question: str) -> Iterator[Flaw]:
    """An explanation of its own, in Portuguese, of some words."""
    text = fenced(query + ";", _PROSE)
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


def harmless(prompt: Prompt, text: str) -> Iterator[Change]:
    """The same query as somebody else would write it."""
    found = _FENCED.fullmatch(text.strip())
    if found is None:
        return
    query, prose = found["query"].rstrip("; \n"), found["prose"]
    spaced = re.sub(r" (FROM|WHERE|JOIN|GROUP BY|ORDER BY|LIMIT)\b", r"\n\1", query)
    others = {
        "spelling: no semicolon": query,
        "spelling: on lines": f"{spaced};",
        "spelling: keywords in lower case": re.sub(
            r"\b[A-Z]{4,}\b(?![^']*'(?:[^']*'[^']*')*[^']*$)", lambda m: m[0].lower(), query
        )
        + ";",
        "spelling: a comment": f"-- consulta\n{query};",
        "form: a condition that always holds": re.sub(r"\bWHERE\b", "WHERE 1=1 AND", query) + ";",
        "form: nested": f"SELECT * FROM ({query});" if " ORDER BY " not in query else f"{query};",
        "form: unrounded": re.sub(r"ROUND\((\w+\(\w+\)),2\)", r"\1", query) + ";",
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
    yield "words: another explanation", text, fenced(query + ";", _PROSE)
    yield "length: ten words", fenced(query + ";", _PROSE), fenced(query + ";", _TEN)
    yield "length: three sentences", fenced(query + ";", _PROSE), fenced(query + ";", f"{_PROSE} {_LONGER}")
    yield "words: a longer explanation", text, fenced(query + ";", f"{_PROSE} {_LONGER}")


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
