"""SQL questions: queries that differ from the right one at a boundary or by a join only, answers that leave open what
is meant, blemishes, and many ways to write the same query.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from tucano.prompts import Prompt
from tucano.specs.flaws.objects import Change, Flaw
from tucano.specs.flaws.sql_qa.kinds import FENCED, NEAR, PROSE, fenced

_FIGURE = re.compile(r"^SELECT (ROUND\(\w+\([^)]*\),2\)|\w+\([^)]*\)) FROM (.*)$", re.DOTALL)
"""A query of a single figure that has no name."""
_COMPARED = re.compile(r"\b(\w+)([<>]=?)(\d+)")
_MONTH = re.compile(r"mes='(\d{4})-(\d\d)'")
_TURNED = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
_DENIED = {">": "<=", "<": ">=", ">=": "<", "<=": ">"}
_STRICT = {">": ">=", "<": "<=", ">=": ">", "<=": "<"}
_OTHER_COLUMNS = {"preco": "frete", "frete": "preco", "valor": "parcelas", "parcelas": "valor"}
_KEYS = {"produtos": "itens.produto_id=produtos.produto_id", "clientes": "pedidos.cliente_id=clientes.cliente_id"}
"""What joins a table to those before it; the orders are joined to the first one."""


def edits(prompt: Prompt, text: str) -> Iterator[Flaw]:
    found = FENCED.fullmatch(text.strip())
    if found is None or not prompt.reference.get("sql") or prompt.user.isupper():
        return
    query = found["query"].rstrip("; \n")
    prose = found["prose"]
    asks = prompt.reference.get("asks")
    is_near = NEAR.search(prompt.reference["sql"])
    changed = _asked(query, asks) if asks else _boundaries(query)
    if not asks and not is_near:
        changed = chain(changed, _others(query), _open(query))
    for kind, points, other in changed:
        if other != query:
            yield kind, points, text, fenced(f"{other};", prose)
    told = named(query)
    if told != query and not asks:
        yield from _compared(told)
    if is_near:
        yield from _in_other_forms(told, prose)


def named(query: str) -> str:
    """The query with a name for its single figure."""
    return _FIGURE.sub(r"SELECT \1 AS resultado FROM \2", query)


def _boundaries(query: str) -> Iterator[tuple[str, float, str]]:
    """A condition that takes in, or leaves out, what lies on its boundary."""
    if limit := _COMPARED.search(query):
        name = limit[1]
        sign = limit[2]
        number = int(limit[3])
        others = {f"{_STRICT[sign]} for {sign}": f"{_STRICT[sign]}{number}", "equal": f"={number}"}
        others |= {"not equal": f"<>{number}"} | {f"{sign} {step:+}": f"{sign}{number + step}" for step in (-1, 1)}
        for kind, other in others.items():
            yield f"beside the boundary: {kind}", 1, query.replace(limit[0], f"{name}{other}")
    if month := _MONTH.search(query):
        year = month[1]
        number = int(month[2])
        last, after = (f"'{year}-{(number + step) % 12 + 1:02}'" for step in (-2, 0))
        asked = f"'{year}-{month[2]}'"
        near = {"next": f"={after}", "last": f"={last}", ">=": f">={asked}", "<=": f"<={asked}"}
        near |= {"two of them": f" IN ({asked},{after})"}
        for kind, other in (near | {"without a zero": f"='{number}/{year}'"}).items():
            yield f"beside the month: {kind}", 1, query.replace(month[0], f"mes{other}")


def _others(query: str) -> Iterator[tuple[str, float, str]]:
    """Another column, aggregate or join."""
    for name, other in _OTHER_COLUMNS.items():
        yield f"another column: {name}", 1, re.sub(rf"\b(SUM|AVG)\({name}\)", rf"\1({other})", query)
    yield "another aggregate: least", 1, re.sub(r"\b(SUM|AVG)\(", "MIN(", query)
    yield "another aggregate: count", 1, re.sub(r"\b(SUM|AVG)\(", "COUNT(", query)
    yield "another aggregate: different stars", 1, query.replace("AVG(nota)", "AVG(DISTINCT nota)")
    yield "another aggregate: whole division", 1, query.replace("AVG(nota)", "SUM(nota)/COUNT(nota)")
    yield "another aggregate: different ones", 1, query.replace("COUNT(*)", "COUNT(DISTINCT status)")
    if last := re.search(r"JOIN (\w+) USING\(\w+\)(?!.*JOIN)", query):
        yield "another join: every row with every row", 1, query.replace(last[0], f"CROSS JOIN {last[1]}")
    if " AND " in query and "WHERE" in query and (parts := re.search(r"WHERE (\S+='.*?'|\S+) AND ", query)):
        yield "another filter: OR for AND", 1, query.replace(parts[0], parts[0].replace(" AND ", " OR "))
        yield "another filter: not so", 1, query.replace(parts[1], f"NOT ({parts[1]})", 1)
    if " LIMIT " in query:
        yield "rows: by name", 1, re.sub(r"ORDER BY \w+ DESC", "ORDER BY 1", query)
        yield "rows: in no order", 1, re.sub(r" ORDER BY \w+ DESC", "", query)
        yield "rows: backwards", 1, f"SELECT * FROM ({query}) ORDER BY 2 ASC"
        yield "rows: one row alone", 1, re.sub(r"LIMIT \d+", "LIMIT 1", query)
        yield "columns: figures alone", 1, re.sub(r"^SELECT (\w+), (.*?) AS \w+ FROM", r"SELECT \2 AS \1 FROM", query)


def _open(query: str) -> Iterator[tuple[str, float, str]]:
    """A query that leaves open which of its figures is meant, or in which the answer has to be looked for."""
    found = _FIGURE.match(query)
    if found is None:
        return
    figure = found[1]
    rest = found[2]
    if "COUNT" in figure and (limit := _COMPARED.search(rest)):
        one = limit[0]
        two = f"{limit[1]}{_STRICT[limit[2]]}{limit[3]}"
        sums = f"SUM({one}) AS um, SUM({two}) AS outro"
        counts = f"COUNT(*) FILTER (WHERE {one}) AS um, COUNT(*) FILTER (WHERE {two}) AS outro"
        yield "left open: two sums", 1, f"SELECT {sums} FROM {rest.replace(one, '1=1')}"
        yield "left open: two filters", 1, f"SELECT {counts} FROM {rest.replace(one, '1=1')}"
        yield "left open: two in one", 1, f"SELECT ({query}) AS um, ({query.replace(one, two)}) AS outro"
    others = "MIN(pedido_id) AS menor, MAX(pedido_id) AS maior"
    yield "left open: two figures in front", 1, f"SELECT {others}, {figure} AS total FROM {rest}"
    yield "left open: three behind", 1, f"SELECT {figure} AS total, {others}, SUM(pedido_id) AS soma FROM {rest}"
    yield "left open: four columns in front", 1, f"SELECT 1 AS a, 2 AS b, 3 AS c, 4 AS d, {figure} AS total FROM {rest}"
    yield "left open: twice with another", 1, f"{query} UNION ALL SELECT 1+{figure} FROM {rest}"


def _asked(query: str, asks: Sequence[str]) -> Iterator[tuple[str, float, str]]:
    """What is wrong only where the question asks for an order of columns, or for a rounding."""
    if "columns" in asks:
        yield "columns in another order", 1, _swapped(query)
    if "rounding" in asks:
        yield "rounded otherwise than asked", 0.5, _rounded(query)["one decimal"]


def _swapped(query: str) -> str:
    return re.sub(r"^SELECT (\w+), (.*?) FROM", r"SELECT \2, \1 FROM", query)


def _rounded(query: str) -> dict[str, str]:
    return {
        "one decimal": re.sub(r"(ROUND\(\w+\(\w+\)),2\)", r"\1,1)", query),
        "three decimals": re.sub(r"(ROUND\(\w+\(\w+\)),2\)", r"\1,3)", query),
        "not at all": re.sub(r"ROUND\((\w+\(\w+\)),2\)", r"\1", query),
    }


def _compared(named: str) -> Iterator[Flaw]:
    """Of two answers that are not faultless, one is worse; `named`: the right query, its figure with a name."""
    best = fenced(f"{named};", PROSE)
    more = fenced(f"{named.replace(' FROM', ', 1 AS um FROM', 1)};", PROSE)
    wrong_query = named.replace(" AS resultado", "+1 AS resultado")
    wrong = fenced(f"{wrong_query};", PROSE)
    yield "a blemish: a column more", 0.5, best, more
    yield "a blemish: without a name", 0.5, best, fenced(f"{named.replace(' AS resultado', '')};", PROSE)
    yield "a blemish: five words", 0.5, best, fenced(f"{named};", "A consulta faz a conta.")
    yield "wrong rather than a blemish", 1, more, wrong
    yield "wrong rather than short", 1, fenced(f"{named};", "A consulta faz a conta."), wrong
    yield "wrong and unexplained", 0.5, wrong, fenced(f"{wrong_query};", "")
    table = re.search(r"FROM (\w+)", named)
    other = "produtos" if table and table[1] != "produtos" else "clientes"
    yield "off the topic rather than wrong", 0.5, wrong, fenced(f"SELECT COUNT(*) AS n FROM {other};", PROSE)
    yield "unexplained and a column more", 0.2, fenced(f"{named};", ""), more.replace(PROSE, "").strip()


def harmless(prompt: Prompt, text: str) -> Iterator[Change]:
    """The same query in other forms, and blemishes of it."""
    found = FENCED.fullmatch(text.strip())
    gold = prompt.reference.get("sql", "")
    if found is None or not gold or prompt.reference.get("asks") or prompt.user.isupper() or NEAR.search(gold):
        return
    query = named(found["query"].rstrip("; \n"))
    prose = found["prose"]
    best = fenced(f"{query};", prose)
    forms = _spelled(query) | _conditions(query) | _joins(query) | _figures(query)
    forms |= {"form: columns in another order": _swapped(query)}
    for kind, other in (forms | _lists(query) | _blemishes(query)).items():
        if other != query:
            yield kind, best, fenced(f"{other};", prose)
    yield from _around(query, prose, best)


def _spelled(query: str) -> dict[str, str]:
    lower = re.sub(r"'[^']*'|[^']+", lambda part: part[0] if part[0].startswith("'") else part[0].lower(), query)
    return {
        "spelling: all in lower case": lower,
        "spelling: spaces around signs": re.sub(r"(?<=\w)([<>]?=|[<>])(?=['\w])", r" \1 ", query),
        "spelling: spaces behind commas": re.sub(r",(?=\S)", ", ", query),
        "spelling: tabs": query.replace(" FROM", "\n\tFROM").replace(" WHERE", "\n\tWHERE"),
        "spelling: an empty line": query.replace(" WHERE", "\n\nWHERE"),
        "spelling: a comment behind": f"{query} -- fim da consulta\n",
        "spelling: a comment between": query.replace(" WHERE", "\n-- só o que a pergunta pede\nWHERE"),
        "spelling: a block comment": f"/* consulta da loja */ {query}",
        "spelling: names in quotes": re.sub(r"\b(estado|mes|categoria|tipo|valor|nota)\b(?=[=<>])", r'"\1"', query),
        "spelling: names in brackets": re.sub(r"\b(estado|mes|categoria|tipo|valor|nota)\b(?=[=<>])", r"[\1]", query),
        "spelling: quoted alias": re.sub(r" AS (\w+) FROM", r' AS "\1" FROM', query),
        "spelling: alias without AS": re.sub(r" AS (\w+) FROM", r" \1 FROM", query),
        "spelling: alias with an accent": re.sub(r" AS resultado FROM", " AS número FROM", query),
        "spelling: brackets": re.sub(r"(?s)WHERE (.*?)(?= GROUP|\Z)", r"WHERE (\1)", query),
        "spelling: inner": query.replace(" JOIN ", " INNER JOIN "),
    }


def _conditions(query: str) -> dict[str, str]:
    forms = {
        "conditions: the other one first": re.sub(
            r"WHERE (\S+?='[^']*'|\S+) AND (\S+?='[^']*')", r"WHERE \2 AND \1", query
        ),
        "conditions: LIKE": re.sub(r"(estado|mes|tipo|categoria|status)=", r"\1 LIKE ", query),
        "conditions: lower case": re.sub(r"(tipo|status)=", r"LOWER(\1)=", query),
        "conditions: upper case": query.replace("estado=", "UPPER(estado)="),
        "conditions: trimmed": re.sub(r"(categoria|tipo)=", r"TRIM(\1)=", query),
        "conditions: value first": re.sub(r"\b(estado|mes)=('[^']*')", r"\2=\1", query),
        "conditions: two equal signs": re.sub(r"(estado|mes|tipo)=", r"\1==", query),
        "conditions: IS": re.sub(r"(estado|mes|tipo)=", r"\1 IS ", query),
        "conditions: in a list with itself": re.sub(r"(mes|estado)=('[^']*')", r"\1 IN (\2,\2)", query),
        "conditions: between": re.sub(r"mes=('[^']*')", r"mes BETWEEN \1 AND \1", query),
        "conditions: beginning": re.sub(r"mes=('[^']*')", r"SUBSTR(mes,1,7)=\1", query),
        "conditions: a day of it": re.sub(r"mes=('[^']*')", r"STRFTIME('%Y-%m',mes || '-01')=\1", query),
    }
    if limit := _COMPARED.search(query):
        name, sign, number = limit.groups()
        forms |= {
            "conditions: figure first": query.replace(limit[0], f"{number}{_TURNED[sign]}{name}"),
            "conditions: denied": query.replace(limit[0], f"NOT {name}{_DENIED[sign]}{number}"),
            "conditions: decimals": query.replace(limit[0], f"{name}{sign}{number}.00"),
        }
    if month := _MONTH.search(query):
        year = int(month[1])
        number = int(month[2])
        end = f"'{year + number // 12}-{number % 12 + 1:02}'"
        forms["conditions: up to the next month"] = query.replace(month[0], f"mes>='{year}-{month[2]}' AND mes<{end}")
    return forms


def _joins(query: str) -> dict[str, str]:
    first = re.search(r"FROM (\w+)", query)
    keys = _KEYS | {"pedidos": f"{first[1] if first else ''}.pedido_id=pedidos.pedido_id"}
    used = re.findall(r" JOIN (\w+) USING\(\w+\)", query)
    if first is None or not used or not set(used) <= set(keys):
        return {}
    on = re.sub(r" JOIN (\w+) USING\(\w+\)", lambda join: f" JOIN {join[1]} ON {keys[join[1]]}", query)
    linked = " AND ".join(keys[name] for name in used)
    listed = re.sub(r" JOIN (\w+) USING\(\w+\)", r", \1", query).replace("WHERE ", f"WHERE {linked} AND ")
    return {"joins: with ON": on, "joins: in a list": listed} | _within(query, used)


def _within(query: str, used: list[str]) -> dict[str, str]:
    """The orders that count as a query of their own, where all conditions are about them."""
    if used[0] != "pedidos" or re.search(r"\b(valor|nota|tipo)[<>=]", query):
        return {}
    found = re.match(r"(?s)(SELECT .*? FROM \w+) JOIN (pedidos) USING\(pedido_id\)(.* WHERE .*)\Z", query)
    if found is None:
        return {}
    figure = found[1]
    orders = f"{found[2]}{found[3]}"
    table = figure.rpartition(" ")[2]
    return {
        "joins: IN": f"{figure} WHERE pedido_id IN (SELECT pedido_id FROM {orders})",
        "joins: EXISTS": f"{figure} WHERE EXISTS (SELECT 1 FROM {orders} AND pedidos.pedido_id={table}.pedido_id)",
    }


def _figures(query: str) -> dict[str, str]:
    return {f"figure: {name}": other for name, other in _rounded(query).items()} | {
        "figure: four decimals": re.sub(r"(ROUND\(\w+\(\w+\)),2\)", r"\1,4)", query),
        "figure: nothing is 0": re.sub(r"(ROUND\(\w+\(\w+\),2\))", r"COALESCE(\1,0)", query),
        "figure: nothing is 0, IFNULL": re.sub(r"(ROUND\(\w+\(\w+\),2\))", r"IFNULL(\1,0)", query),
        "figure: divided": re.sub(r"AVG\((\w+)\)", r"SUM(\1)*1.0/COUNT(\1)", query),
        "figure: real": re.sub(r"AVG\((\w+)\)", r"AVG(CAST(\1 AS REAL))", query),
        "figure: total": query.replace("SUM(", "TOTAL("),
        "figure: cases": re.sub(
            r"(?s)COUNT\(\*\)( AS \w+ FROM .*?) WHERE (.*)\Z", r"COUNT(CASE WHEN \2 THEN 1 END)\1", query
        ),
        "figure: filter": re.sub(
            r"(?s)COUNT\(\*\)( AS \w+ FROM .*?) WHERE (.*)\Z", r"COUNT(*) FILTER (WHERE \2)\1", query
        ),
        "figure: sum of cases": re.sub(
            r"(?s)COUNT\(\*\)( AS \w+ FROM .*?) WHERE (.*)\Z", r"SUM(CASE WHEN \2 THEN 1 ELSE 0 END)\1", query
        ),
        "figure: rows of a table": re.sub(
            r"COUNT\(\*\)( AS \w+) FROM (.*)$", r"COUNT(*)\1 FROM (SELECT 1 FROM \2)", query
        ),
        "figure: rows of a named table": re.sub(
            r"SELECT COUNT\(\*\)( AS \w+) FROM (.*)$",
            r"WITH linhas AS (SELECT 1 FROM \2) SELECT COUNT(*)\1 FROM linhas",
            query,
        ),
    }


def _lists(query: str) -> dict[str, str]:
    """Rankings; with ties, where the name decides among them."""
    return {
        "list: by column number": re.sub(r"ORDER BY \w+ DESC", "ORDER BY 2 DESC", query),
        "list: grouped by number": re.sub(r"GROUP BY \w+", "GROUP BY 1", query),
        "list: by the figure itself": re.sub(
            r"^(SELECT \w+, (.*?) AS \w+ .*) ORDER BY \w+ DESC", r"\1 ORDER BY \2 DESC", query
        ),
        "list: from the first row": re.sub(r"LIMIT (\d+)", r"LIMIT \1 OFFSET 0", query),
        "list: names decide": re.sub(r"(ORDER BY \w+ DESC)", r"\1, 1", query),
        "list: names decide, the last first": re.sub(r"(ORDER BY \w+ DESC)", r"\1, 1 DESC", query),
        "list: upside down twice": re.sub(r"ORDER BY (\w+) DESC", r"ORDER BY -\1", query),
        "list: as a table": f"SELECT * FROM ({query})" if " LIMIT " in query else query,
        "list: as a named table": f"WITH lista AS ({query}) SELECT * FROM lista" if " LIMIT " in query else query,
        "list: another name": re.sub(r"\b(receita|quantos)\b", "total_da_lista", query),
        "list: name of the group": re.sub(r"^SELECT (\w+),", r"SELECT \1 AS grupo,", query),
    }


def _blemishes(query: str) -> dict[str, str]:
    """Right, with something to spare or to wish for."""
    single = _FIGURE_NAMED.match(query)
    found = {
        "blemish: whole numbers of a sum": re.sub(r"ROUND\(SUM\((preco|frete)\),2\)", r"ROUND(SUM(\1),0)", query),
        "blemish: a key counted": query.replace("COUNT(*)", "COUNT(pedido_id)") if "pedido_id" in query else query,
        "blemish: one more column": re.sub(
            r"^SELECT (\w+), (.*?) FROM", r"SELECT \1, \2, COUNT(*) AS vezes FROM", query
        ),
        "blemish: text in other quotes": re.sub(r"mes=('([^']*)')", r'mes="\2"', query),
        "blemish: of another system": re.sub(r"(ROUND\(AVG\(\w+\))", r"\1::numeric", query),
        "blemish: natural joins": re.sub(r" JOIN (\w+) USING\(\w+\)", r" NATURAL JOIN \1", query),
    }
    if single:
        figure = single[1]
        rest = single[2]
        found |= {
            "blemish: a column in front": f"SELECT 1 AS linha, {figure} AS resultado FROM {rest}",
            "blemish: a column behind": f"SELECT {figure} AS resultado, 'total' AS nome FROM {rest}",
            "blemish: three columns more": f"SELECT 1 AS a, 2 AS b, {figure} AS resultado, 3 AS c FROM {rest}",
            "blemish: another figure in front": f"SELECT COUNT(*)+3 AS mais, {figure} AS resultado FROM {rest}",
            "blemish: another figure behind": f"SELECT {figure} AS resultado, COUNT(*)+3 AS mais FROM {rest}",
            "blemish: without a name": f"SELECT {figure} FROM {rest}",
            "blemish: a name and a text": f"SELECT {figure} AS resultado, '{figure[:3]}' AS conta FROM {rest}",
        }
    return found


_FIGURE_NAMED = re.compile(r"^SELECT (.*?) AS resultado FROM (.*)$", re.DOTALL)
_RESULT = "| resultado |\n| --- |\n| 12 |"


def _around(query: str, prose: str, best: str) -> Iterator[Change]:
    """Other places for the query and its explanation."""
    code = f"{query};"
    for name, text in {
        "fence in capitals": f"```SQL\n{code}\n```\n{prose}",
        "fence of SQLite": f"```sqlite\n{code}\n```\n{prose}",
        "fence in a line": f"```sql {code}```\n{prose}",
        "fence with spaces": f"```  sql\n{code}\n  ```\n\n{prose}",
        "fence behind a heading": f"**Consulta:**\n```sql\n{code}\n```\n**Explicação:** {prose}",
        "headings": f"### Consulta\n\n```sql\n{code}\n```\n\n### Explicação\n\n{prose}",
        "in one mark": f"`{code}`\n\n{prose}",
        "explanation first, without a fence": f"{prose}\n\n{code}",
        "explanation first, in a line": f"{prose} {code}",
        "without a fence, in lower case": f"{query[:6].lower()}{query[6:]};\n{prose}",
        "without a fence and a mark": f"{query}\n\n{prose}",
        "without a fence, on lines": "{};\n{}".format(query.replace(" FROM", "\nFROM"), prose),
        "line breaks of Windows": f"```sql\r\n{code}\r\n```\r\n{prose}",
        "an introduction": f"Segue a consulta:\n{best}",
        "a result behind": f"{best}\n```\n{_RESULT}\n```",
        "a table behind": f"{best}\n\n{_RESULT}",
    }.items():
        yield f"around it: {name}", best, text
    yield "blemish: nine words", best, fenced(code, "A consulta filtra as linhas e mostra o resultado.")
    yield "blemish: eight words", best, fenced(code, "A consulta faz a conta que foi pedida.")


def _in_other_forms(query: str, prose: str) -> Iterator[Flaw]:
    """A wrong figure rather than the right rows in another form."""
    wrong = fenced(f"SELECT * FROM ({query}) LIMIT 1 OFFSET 1;", prose)
    for kind, other in (_lists(query) | _unsorted(query) | _each_once(query)).items():
        if other != query:
            yield f"wrong rather than in another form: {kind}", 3, fenced(f"{other};", prose), wrong


def _unsorted(query: str) -> dict[str, str]:
    return {
        "sorted though nobody asks": re.sub(r"GROUP BY status$", "GROUP BY status ORDER BY 2", query),
        "sorted by name": re.sub(r"GROUP BY status$", "GROUP BY status ORDER BY 1 DESC", query),
        "grouped rather than different": re.sub(
            r"DISTINCT (estado) (.*) ORDER BY", r"\1 \2 GROUP BY \1 ORDER BY", query
        ),
        "by number": query.replace("ORDER BY estado", "ORDER BY 1 ASC"),
        "not this one": re.sub(r"estado<>('..')", r"estado NOT IN (\1)", query),
        "denied": re.sub(r"estado<>('..')", r"NOT estado=\1", query),
        "other sign": query.replace("estado<>", "estado!="),
    }


def _each_once(query: str) -> dict[str, str]:
    """A mean of ratings in which each order counts once: people call both right."""
    found = re.match(r"SELECT (.*) FROM avaliacoes JOIN itens USING\(pedido_id\) (.*)$", query)
    if found is None:
        return {}
    figure = found[1]
    rest = found[2]
    orders = f"SELECT pedido_id FROM itens {rest}"
    return {
        "each order once": f"SELECT {figure} FROM avaliacoes WHERE pedido_id IN ({orders})",
        "each order once, in a table": (
            f"SELECT {figure} FROM avaliacoes JOIN (SELECT DISTINCT pedido_id FROM itens {rest}) USING(pedido_id)"
        ),
    }
