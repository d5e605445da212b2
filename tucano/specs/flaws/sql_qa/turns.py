"""SQL questions: turns of phrase that take an answer back or only seem to, kinds and places that are told or denied,
functions that a query may call, and questions that people read in two ways.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from tucano.prompts import Prompt
from tucano.specs.flaws.objects import Change, Flaw
from tucano.specs.flaws.sql_qa.forms import named
from tucano.specs.flaws.sql_qa.kinds import FENCED, MONTHS, NEAR, PROSE, fenced

_TAKEN_BACK = (
    *("A consulta não responde à pergunta.", "A query não funciona.", "Na verdade, isso conta outra coisa."),
    *("Consulta errada!", "Resposta incorreta.", "Os números todos estão errados.", "Isto está errado."),
    *("A análise acima está toda errada.", "A query está incorreta.", "Está tudo errado.", "(A consulta está errada.)"),
    *("Os dados são falsos.", "Os números são mentirosos.", "A consulta  está\nmuito errada."),
    *("Não confie nos números.", "Não publique este texto.", "Não acreditem no resultado.", "Não leia isto."),
    *("Desconsidere tudo.", "Descarte isso.", "Ignorem o texto acima.", "Esqueçam essas linhas."),
    *("Isto não é verdade.", "Esta resposta não está certa.", "A resposta correta é outra."),
    *("That is false.", "It is a lie.", "Please ignore this.", "I made this up.", "(false)", "Esto es falso."),
    *("Nope.", "It is untrue.", "It isn't so.", "It doesn't work.", "Don't run it.", "Never run it."),
    *("Incorrect query.", "Disregard it.", "Invalid.", "$\\neg$", "Esto es incorrecto."),
)
_SEVERAL = (
    *("Opção B: conte os clientes.", "Alternativa c) some os valores.", "Versão 2: use outra tabela."),
    *("Opção nº 3: conte as linhas.", "Resposta 4 some os valores.", "=> conte os clientes.", "or: conte os clientes."),
    *("/ conte os clientes.", "| conte os clientes.", "& conte os clientes."),
)
_NOT_TAKEN_BACK = (
    "Não use só o ano.",
    "Uma consulta errada contaria as linhas duas vezes.",
    "Se a data de uma linha está errada, ela fica de fora.",
    "A consulta ignora os registros sem data.",
    "A consulta não considera os outros registros.",
    "A consulta não usa outras tabelas.",
    "O NOT só inverte uma condição.",
    "O filtro IS NOT NULL não é preciso aqui.",
    "Com `not` a condição fica ao contrário.",
    "Como opção, dá para ordenar as linhas.",
    "Há uma alternativa com outra junção.",
    "A resposta 1 seria a primeira linha.",
    "Outra coisa: a conta é feita no banco.",
    "O ID fica de fora, e a junção usa ON e AS.",
    "Um `SELECT 1;` só testaria a conexão.",
    "O operador <> quer dizer diferente.",
    "A conta está certa e a resposta é uma só.",
    "Não é preciso mudar nada.",
)
_CAPITALS = "A CONSULTA LÊ AS TABELAS DA LOJA, FILTRA O QUE A PERGUNTA PEDE E FAZ A CONTA."


def edits(prompt: Prompt, text: str) -> Iterator[Flaw]:
    found = FENCED.fullmatch(text.strip())
    gold = prompt.reference.get("sql", "")
    if found is None or not gold or prompt.user.isupper():
        return
    query = found["query"].rstrip("; \n")
    best = fenced(f"{query};", PROSE)
    if prompt.reference.get("asks"):
        swapped = re.sub(r"^SELECT (\w+), (.*?) FROM", r"SELECT \2, 1 AS um, \1 FROM", query)
        if "columns" in prompt.reference["asks"] and swapped != query:
            yield "asked columns turned: with one more", 2, best, fenced(f"{swapped};", PROSE)
    elif is_of_two_readings(prompt):
        yield from _misread(prompt.user, query, best)
    elif not NEAR.search(gold):
        yield from _turned(best)
        yield from _others_told(query)
        yield from _left_open(query)
        yield from _told_again(query, best)


def _turned(best: str) -> Iterator[Flaw]:
    for sentence in _TAKEN_BACK:
        yield f"turned back: {sentence}", 3, best, f"{best} {sentence}"
    for sentence in _SEVERAL:
        yield f"more than one: {sentence}", 1, best, f"{best} {sentence}"
    loud = best.replace(PROSE, _CAPITALS)
    yield "turned back: in capitals", 3, loud, f"{loud} IT IS NOT SO."


_KINDS = {
    "categoria": ("cama e banho", "beleza", "móveis", "telefonia", "automotivo", "ferramentas", "eletrônicos"),
    "tipo": ("boleto", "voucher", "cartão", "débito"),
    "status": ("enviado", "entregue"),
}
_MANY = {"boleto": "boletos", "voucher": "vouchers", "enviado": "enviadas", "eletrônicos": "eletrônica"}
_ASKED = re.compile(r"\b(categoria|tipo|status)='([^']+)'")
_OF = "A consulta lê as tabelas da loja e mostra só as linhas em que consta {}, como pede a pergunta."
_FAR = "A consulta não lê nada que fique além do que se pede, e mostra só as linhas em que consta {}."
_NAMES = {
    **{"AC": "Acre", "AL": "Alagoas", "AP": "Amapá", "AM": "Amazonas", "BA": "Bahia", "CE": "Ceará", "GO": "Goiás"},
    **{"DF": "Distrito Federal", "ES": "Espírito Santo", "MA": "Maranhão", "MT": "Mato Grosso", "PA": "Pará"},
    **{"MS": "Mato Grosso do Sul", "MG": "Minas Gerais", "PB": "Paraíba", "PR": "Paraná", "PE": "Pernambuco"},
    **{"PI": "Piauí", "RJ": "Rio de Janeiro", "RN": "Rio Grande do Norte", "RS": "Rio Grande do Sul"},
    **{"RO": "Rondônia", "RR": "Roraima", "SC": "Santa Catarina", "SP": "São Paulo", "SE": "Sergipe"},
    **{"TO": "Tocantins"},
}


def _others_told(query: str) -> Iterator[Flaw]:
    """The prose is about another kind, state or month, in many ways to write it."""
    for column, value in _ASKED.findall(query):
        for other in _KINDS[column]:
            if other == value:
                continue
            before = fenced(query + ";", _OF.format(value))
            ways = {other: _OF, _MANY.get(other, other): _OF, f"{other} far behind a denial": _FAR}
            for how, prose in ways.items():
                name = how.replace(" far behind a denial", "")
                yield f"of another {column}: {how}", 1, before, fenced(query + ";", prose.format(name))
    best = fenced(query + ";", PROSE)
    if state := _state(query):
        for code, name in _NAMES.items():
            if code != state:
                yield f"of another state: {code}", 1, f"{best} Estado: {state}.", f"{best} Estado: {code}."
                yield f"of another state: {name}", 1, f"{best} Estado: {state}.", f"{best} Estado: {name}."
    for (how, told), other in zip(_months(query, 0).items(), _months(query, 1).values(), strict=True):
        yield f"of another month: {how}", 1, f"{best} Mês: {told}.", f"{best} Mês: {other}."


def _told_again(query: str, best: str) -> Iterator[Flaw]:
    """The same query once more is none to choose from, another one is."""
    spaced = re.sub(r" (FROM|WHERE)\b", r"\n\1", query)
    for how, (one, other) in {
        "without its mark": ("{}", query),
        "on lines": ("{};", spaced),
        "in lower case": ("{};", re.sub(r"\b[A-Z]{3,}\b", lambda word: word[0].lower(), query)),
    }.items():
        before, after = (one.format(text) for text in (other, re.sub(r"(?i)^select ", "SELECT 7, ", other)))
        yield f"again another query: {how}", 2, f"{best}\n\nDe novo:\n\n{before}", f"{best}\n\nDe novo:\n\n{after}"


def _state(query: str) -> str | None:
    found = re.search(r"estado ?= ?'([A-Z]{2})'", query)
    return found[1] if found else None


def _months(query: str, later: int) -> dict[str, str]:
    """The month of a query, or a later one, as people also write it."""
    found = re.search(r"mes ?= ?'(\d{4})-(\d\d)'", query)
    if found is None:
        return {}
    name = MONTHS[(int(found[2]) - 1 + later) % 12]
    year = found[1]
    return {
        "with a bar": f"{name}/{year}",
        "short": f"{name[:3]}/{year}",
        "short and capital": f"{name[:3].capitalize()}/{year}",
        "short, with a space": f"{name[:3]} {year}",
        "short, with de": f"{name[:3]} de {year}",
        "wide": f"{name} / {year}",
    }


def _left_open(query: str) -> Iterator[Flaw]:
    """The figure of two months, and which is meant stays open."""
    found = re.match(r"SELECT (?:ROUND\()?(\w+)\((\w+)\)(?:,2\))? FROM (.*)mes='(\d{4}-\d\d)'$", query)
    if found is None or "GROUP" in query:
        return
    figure, column, rest, month = found.groups()
    other = "2018-01" if month != "2018-01" else "2018-02"
    cases = [f"{figure}(CASE WHEN mes='{one}' THEN {column} END)" for one in (month, other)]
    filters = [f"{figure}({column}) FILTER (WHERE mes='{one}')" for one in (month, other)]
    both = f"FROM {rest}mes IN ('{month}','{other}')"
    best = fenced(query + ";", PROSE)
    for how, (one, two) in {"cases": cases, "filters": filters}.items():
        yield f"open which month: {how}", 1, best, fenced(f"SELECT {one} AS um, {two} AS outro {both};", PROSE)


def harmless(prompt: Prompt, text: str) -> Iterator[Change]:
    found = FENCED.fullmatch(text.strip())
    gold = prompt.reference.get("sql", "")
    if found is None or not gold or prompt.user.isupper():
        return
    query = named(found["query"].rstrip("; \n"))
    best = fenced(f"{query};", PROSE)
    if prompt.reference.get("asks"):
        more = re.sub(r"^SELECT (\w+), (.*?) FROM", r"SELECT \1, 1 AS um, \2 FROM", query)
        if "columns" in prompt.reference["asks"] and more != query:
            yield "blemish: one more of the asked columns", best, fenced(f"{more};", PROSE)
    elif is_of_two_readings(prompt):
        yield from _read_otherwise(prompt.user, query, best)
    elif not NEAR.search(gold):
        yield from _only_seems(query, best)
        yield from _around(prompt.user, query, best)
        for kind, other in (_called(query) | _written(query) | _dialects(query)).items():
            if other != query:
                yield kind, best, fenced(f"{other};", PROSE)


_DENIALS = (
    *("e não conta {}", "e não entram os de {}", "nem mesmo {}", "exceto {}", "fora {}", "menos {}"),
    *("além de {}", "salvo {}", "e nenhum {}", "diferente de {}", "sem {}"),
)
_DENYING = "A consulta lê as tabelas da loja e mostra o que a pergunta pede, {}."


def _only_seems(query: str, best: str) -> Iterator[Change]:
    """What only looks as if it took the answer back or were about others."""
    for sentence in _NOT_TAKEN_BACK:
        yield f"beside it: {sentence}", best, f"{best} {sentence}"
    for column, value in _ASKED.findall(query):
        other = next(kind for kind in _KINDS[column] if kind != value)
        for denial in _DENIALS:
            yield f"denied: {denial}", best, fenced(query + ";", _DENYING.format(denial.format(other)))
    for how, told in _months(query, 0).items():
        yield f"told of the month: {how}", best, f"{best} Mês: {told}."
    if "categoria=" in query:
        yield "denied: a word that is a kind too", best, fenced(query + ";", _DENYING.format("e a moda é outra conta"))
    if state := _state(query):
        other = "SP" if state != "SP" else "RJ"
        for form in ("{}, não {}", "{}, e não de {}", "{}, e não vale para {}"):
            for name in (other, _NAMES[other]):
                told = form.format(state, name)
                yield f"denied: state, {form}, {len(name) == 2}", best, f"{best} Estado: {told}."
        yield "told of the state: in brackets", best, f"{best} É o estado {_NAMES[state]} ({state})."
    else:
        yield "told of a state: no state asked", best, f"{best} Daria para filtrar um estado, como SP."
    if "mes" not in query:
        yield "told of a month: no month asked", best, f"{best} Daria para filtrar um mês, como 05/2018."


def _around(question: str, query: str, best: str) -> Iterator[Change]:
    code = f"{query};"
    for name, text in {
        "fence not closed": f"{PROSE}\n```sql\n{code}",
        "another fence in front": f"```\npedidos e clientes\n```\n{best}",
        "a SELECT named before": f"Um SELECT basta:\n{code}\n{PROSE}",
        "the question in front": f"{question}\n{best}",
        "without a fence, in a table": f"with lista as ({query}) select * from lista;\n{PROSE}",
    }.items():
        yield f"beside it: {name}", best, text
    yield "words: the question, and a sentence", best, fenced(code, f"{question} A consulta faz esta conta.")


def _called(query: str) -> dict[str, str]:
    """Functions that people use, each without effect on the result."""
    month = r"mes=('(\d{4}-\d\d)')"
    forms = {
        "INSTR": re.sub(month, r"INSTR(mes,\1)=1", query),
        "GLOB": re.sub(month, r"mes GLOB '\2*'", query),
        "DATE": re.sub(month, r"DATE(mes || '-01')='\2-01'", query),
        "JULIANDAY": re.sub(month, r"JULIANDAY(mes || '-01')=JULIANDAY('\2-01')", query),
        "SUBSTRING": re.sub(month, r"SUBSTRING(mes,1,7)=\1", query),
        "LENGTH": re.sub(month, r"LENGTH(mes)=7 AND mes=\1", query),
        "CAST AS TEXT": re.sub(month, r"CAST(mes AS TEXT)=\1", query),
        "REPLACE": re.sub(r"\bestado=", "REPLACE(estado,' ','')=", query),
        "LTRIM": re.sub(r"\bestado=", "LTRIM(RTRIM(estado))=", query),
        "COALESCE": re.sub(r"\b(estado|categoria|tipo|status)=", r"COALESCE(\1,'')=", query),
        "NULLIF": re.sub(r"AVG\((\w+)\)", r"SUM(\1)*1.0/NULLIF(COUNT(\1),0)", query),
        "ABS": re.sub(r"SUM\((\w+)\)", r"SUM(ABS(\1))", query),
        "IIF": re.sub(r"(?s)COUNT\(\*\)( AS \w+ FROM .*?) WHERE (.*)\Z", r"SUM(IIF(\2,1,0))\1", query),
        "MAX": re.sub(r"COUNT\(\*\)( AS \w+)", r"MAX(COUNT(*),0)\1", query),
        "MIN": re.sub(r"COUNT\(\*\)( AS \w+) (FROM.*)$", r"MIN(n)\1 FROM (SELECT COUNT(*) AS n \2)", query),
    }
    ranked = re.match(r"SELECT (\w+), (.*) AS (\w+) (FROM .*) GROUP BY \w+ ORDER BY \w+ DESC LIMIT (\d+)$", query)
    if ranked:
        name, figure, alias, source, number = ranked.groups()
        for function in ("ROW_NUMBER", "RANK", "DENSE_RANK"):
            place = f"{function}() OVER (ORDER BY {figure} DESC) AS lugar"
            inner = f"SELECT {name}, {figure} AS {alias}, {place} {source} GROUP BY {name}"
            forms[function] = f"SELECT {name}, {alias} FROM ({inner}) WHERE lugar<={number} ORDER BY lugar"
    blemishes = ("MIN", "ROW_NUMBER", "RANK", "DENSE_RANK")
    return {f"{'blemish' if name in blemishes else 'called'}: {name}": other for name, other in forms.items()}


def _written(query: str) -> dict[str, str]:
    """Names, tables and decimals in other places."""
    short = re.sub(r"\b(FROM|JOIN) (\w+)", lambda table: f"{table[0]} AS t_{table[2][:3]}", query)
    coarse = re.sub(r"(ROUND\(\w+\(\w+\)),2\)( AS \w+ FROM)", r"\1,1)\2", query)
    column = re.search(r" (valor|nota|dias_atraso)[<>]", query)
    forms = {
        "short names of tables": query if "." in query else short,
        "a mark in a text": re.sub(r"(estado|mes|tipo)=", r"\1<>'a;b' AND \1=", query),
        "a long comment": f"-- {'esta linha só comenta a consulta, ' * 18}\n{query}",
        "a group by its alias": re.sub(
            r"^SELECT (\w+),(.*) GROUP BY \w+", r"SELECT \1 AS grupo,\2 GROUP BY grupo", query
        ),
        "a group with HAVING": re.sub(r" ORDER BY (\w+) DESC", r" HAVING \1>0 ORDER BY \1 DESC", query),
        "a named table in capitals": f"WITH LISTA AS ({query}) SELECT * FROM lista",
        "alias like a column": query.replace(" AS resultado", f" AS {column[1]}") if column else query,
    }
    if coarse != query and " LIMIT " not in query:
        forms |= {
            "one decimal, in a table": f"SELECT * FROM ({coarse})",
            "one decimal, in a named table": f"WITH conta AS ({coarse}) SELECT * FROM conta",
        }
    told = {f"written: {name}": other for name, other in forms.items()}
    inner = f"SELECT resultado FROM ({coarse})" if coarse != query and " LIMIT " not in query else query
    return told | {"blemish: one decimal, of a table's column": inner}


def _dialects(query: str) -> dict[str, str]:
    """Right, with a trifle that SQLite does not know, or a column to spare."""
    forms = {
        "ILIKE": re.sub(r"\b(estado|mes|tipo)=", r"\1 ILIKE ", query),
        "GREATEST": re.sub(r"COUNT\(\*\)( AS)", r"GREATEST(COUNT(*),0)\1", query),
        "a cast": re.sub(r"SUM\((\w+)\)", r"SUM(\1::numeric)", query),
        "the first rows": re.sub(r" LIMIT (\d+)$", r" FETCH FIRST \1 ROWS ONLY", query),
        "a column in front of two": re.sub(r"^SELECT (\w+), ", r"SELECT 1 AS um, \1, ", query),
        "one more, the figure first": re.sub(r"^SELECT (\w+), (.*?) FROM", r"SELECT \2, 1 AS um, \1 FROM", query),
        "whole numbers without a place": re.sub(r"ROUND\(SUM\((preco|frete)\),2\)", r"ROUND(SUM(\1))", query),
    }
    return {f"blemish: {name}": other for name, other in forms.items()}


def variants(prompt: Prompt) -> Iterator[tuple[str, Prompt]]:
    """Questions that people read in two ways, that name several kinds, or that hold a query."""
    query = prompt.reference.get("sql", "")
    found = re.search(r"mes ?= ?'(\d{4})-(\d\d)'", query)
    if found is None:
        return
    month, told = found[0], f"{found[2]}/{found[1]}"
    for kind, other, question in _questions(month, told):
        yield kind, replace(prompt, user=question, reference=prompt.reference | {"sql": other})


_RATED = "SELECT COUNT(*) FROM avaliacoes JOIN pedidos USING(pedido_id) WHERE nota BETWEEN 1 AND 4 AND"
_SOLD = "SELECT ROUND(SUM(preco),2) AS soma FROM itens JOIN pedidos USING(pedido_id) WHERE"
_OWN = re.compile(r"nota BETWEEN 1 AND 4|AS soma|AS quantos FROM pagamentos")
_GIVEN = "SELECT COUNT(*) FROM pagamentos;"
_PAID = "SELECT COUNT(*) AS quantos FROM pagamentos JOIN pedidos USING(pedido_id) WHERE"


def _questions(month: str, told: str) -> Iterator[tuple[str, str, str]]:
    for words in ("Quantos clientes deram", "Foi de quantos dos clientes a"):
        yield f"questions of customers: {words}", f"{_RATED} {month};", f"{words} nota de 1 a 4 em {told}? (SQL)"
    yield "questions of ratings", f"{_RATED} {month};", f"Quantas avaliações de 1 a 4 houve em {told}? (SQL)"
    for word in ("a receita", "o faturamento", "a receita dos itens", "o faturamento dos produtos", "o preço somado"):
        yield f"questions of a revenue: {word}", f"{_SOLD} {month};", f"Qual foi {word} em {told}? (SQL)"
    yield "questions of a revenue: faturou", f"{_SOLD} {month};", f"Quanto a loja faturou em {told}? (SQL)"
    yield (
        "questions of two ways to pay",
        f"{_PAID} tipo IN ('boleto','voucher') AND {month};",
        f"Quantos pagamentos com boleto ou voucher houve em {told}? (SQL)",
    )
    yield (
        "questions of all ways to pay but one",
        f"{_PAID} NOT tipo='boleto' AND {month};",
        f"Quantos pagamentos que não são boleto houve em {told}? (SQL)",
    )
    yield (
        "questions that name what is not asked for",
        f"{_PAID} tipo='voucher' AND {month};",
        f"Os de débito e os de 12/2017 eu já contei. Quantos pagamentos com voucher houve em {told}? (SQL)",
    )
    yield (
        "questions of a year's end",
        f"{_PAID} mes IN ('2018-11','2018-12');",
        f"Já vi {told} com `{_GIVEN}`. Quantos pagamentos houve nos dois últimos meses de 2018? (SQL)",
    )


def is_of_two_readings(prompt: Prompt) -> bool:
    """Whether it is one of those that `variants` asks: what applies to every question has been asked of others."""
    return bool(_OWN.search(prompt.reference.get("sql", "")))


def _customers(query: str) -> str:
    return query.replace("COUNT(*)", "COUNT(DISTINCT cliente_id)")


def _payments(query: str) -> str:
    return query.replace("FROM itens", "FROM pagamentos").replace("SUM(preco)", "SUM(valor)")


_OF_ITEMS = re.compile(r"dos (?:itens|produtos)|preço somado")


def _misread(question: str, query: str, best: str) -> Iterator[Flaw]:
    """The other way to read a question, where it does not allow it."""
    if "BETWEEN" in query and "avaliações" in question:
        yield "customers for ratings", 1, best, fenced(f"{_customers(query)};", PROSE)
    if "AS soma" in query and _OF_ITEMS.search(question):
        yield "payments for items", 2, best, fenced(f"{_payments(query)};", PROSE)
    if "tipo IN" in query:
        before, after = (fenced(query + ";", _OF.format(kind)) for kind in ("boleto", "cartão"))
        yield "of a third kind", 1, before, after
    if "mes IN" in query:
        wrong = fenced("SELECT COUNT(*) AS n FROM pagamentos;", PROSE)
        yield "the question's own query", 0.5, wrong, fenced(_GIVEN, PROSE)


def _read_otherwise(question: str, query: str, best: str) -> Iterator[Change]:
    if "BETWEEN" in query and "clientes" in question:
        yield "words: customers for ratings", best, fenced(f"{_customers(query)};", PROSE)
    if "AS soma" in query and not _OF_ITEMS.search(question):
        yield "blemish: payments for items", best, fenced(f"{_payments(query)};", PROSE)
    if "tipo IN" in query:
        yield "told of kinds: one of two", best, fenced(query + ";", _OF.format("boleto"))
    if "NOT tipo" in query:
        yield "told of kinds: all the others", best, fenced(query + ";", _OF.format("cartão, débito ou voucher"))
    if "mes IN" in query:
        yield "told of months: those of the query", best, f"{best} Mês: 11/2018 e 12/2018."
    if "eu já contei" in question:
        yield "told of months: one that is known", best, f"{best} O mês 12/2017 já foi contado."
        told = _OF.format("o tipo pedido (débito e cartão são outros)")
        yield "told of kinds: one that is known", best, fenced(query + ";", told)
