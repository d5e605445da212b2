"""Completions that no one would write: for searching faults in the rewards. All drawn from an explicit generator."""

import json
from collections.abc import Callable, Sequence
from random import Random

from rewards.extraction import FIELDS

_WRITTEN = """
{ } [ ] " ' : , \\ ( ) ; ` ``` ```sql ```json -- /* */ <think> </think> | # * ** - • _ % $ R$ = < > ? ! … “ ” « »
4,5 1.234,56 4,5,6 1.2.3 05/01/2024 1e999 -0 NaN Infinity null true None 99999999999999999999 12,5% R$9,9% 0x1F ²³ ١٢٣
SELECT FROM WHERE JOIN UNION WITH AS OVER GROUP_BY CASE WHEN THEN END NULL CAST( EXTRACT( INTERVAL VALUES PIVOT LATERAL IN BETWEEN
pedidos itens clientes produtos "sentiment": "sentiment_score": "category": "positive" "negative" 'sentiment'
você cliente recomendo melhorar entrega fone desconto hoje prezado the of and el los de que não é à ção
"""
FRAGMENTS = [*_WRITTEN.split(), "\n", "\n\n", " ", "\t", "\r", "\x00", "\x0b", "\u2028", "\ud800", "\udfff", "e\u0301", "\u0323", "😀", "👩‍👩‍👧", "İ", "ß", "ﷺ", "각", "\u200b", "\ufeff"]  # fmt: skip

VALUES: tuple[object, ...] = (
    None, True, False, 0, 1, 3, 5, 6, -1, 4.5, 1e308, 10**320, -(10**4000), "", " ", "positive", "negative", "neutral", "low", "high", "1", "true", "4,5",
    "null", "positive|negative", "moda", "entrega atrasada", "the product", "a" * 300, [], [4, 5], {}, {"a": 1}, "\ud83d", "é" * 40,
)  # fmt: skip

TABLES = {
    "pedidos": ("pedido_id", "cliente_id", "mes"),
    "itens": ("pedido_id", "produto_id", "preco", "frete"),
    "clientes": ("cliente_id", "estado"),
    "produtos": ("produto_id", "categoria"),
    "avaliacoes": ("pedido_id", "nota"),
}
ODD_NAMES = ("*", "rowid", '"now"', "nada", "sqlite_master", "1", "'SP'", "NULL", "x'00ff'")
CALLS = (
    "COUNT({})", "SUM({})", "AVG({})", "MAX({})", "ROUND({}, 2)", "UPPER({})", "{} || {}", "replace({}, 'a', 'aaaaaaaaaaaaaaaa')",
    "group_concat({})", "strftime('%Y', {})", "date({})", "CAST({} AS TEXT)", "CASE WHEN {} THEN {} ELSE 0 END", "SUM({}) OVER (ORDER BY {})",
    "(SELECT {} FROM pedidos LIMIT 1)", "random()", "zeroblob(99999999)", "{} LIKE '%_a%_b%'", "instr({}, {})", "-{}", "({})", "{} / 0",
    "julianday('now') - {}", "EXTRACT(YEAR FROM {})", "{}::int", "9e999 * {}", "char(0, 55296) || {}", "abs(-9223372036854775808)",
)  # fmt: skip
ENDLESS = (
    "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT COUNT(*) FROM t",
    "WITH RECURSIVE t(x, s) AS (SELECT 1, 'abcdefgh' UNION ALL SELECT x + 1, substr(s || s, 1, 1900) FROM t) SELECT COUNT(DISTINCT s || x) FROM t",
    "SELECT COUNT(*) FROM pedidos a, pedidos b, pedidos c, pedidos d",
    "SELECT a.mes FROM pedidos a, pedidos b, pedidos c ORDER BY a.pedido_id * b.pedido_id % 7, c.mes",
    "SELECT DISTINCT a.estado || b.pedido_id FROM clientes a, pedidos b, pedidos c",
    "SELECT COUNT(*) FROM pedidos a, pedidos b WHERE replace(a.mes, '2', 'abababababababababab') || b.pedido_id LIKE '%_a%_b%_a%_bz%'",
)
STATEMENTS = (
    "DROP TABLE pedidos", "PRAGMA writable_schema=1", "ATTACH '/tmp/x' AS x", "INSERT INTO pedidos VALUES (1)", "SELECT load_extension('x')",
    "SELECT 1; DELETE FROM pedidos", "VACUUM INTO '/tmp/x'", "EXPLAIN SELECT 1", "SELECT * FROM pragma_table_info('pedidos')",
)  # fmt: skip

UNITS = (
    '{" ', '{"a":', '{"a":4,5},', '"a":1,', "[", "[{", "'", '"', "\\", "```", "```sql\n", "SELECT ", "SELECT (", "SELECT a FROM t\n", "WITH x AS (",
    "SELECT CASE WHEN 1 THEN ", "1+", "a=1 AND ", "NOT ", "--", "/*", ";", "\n", " ", "\t\n", "1", "1,", "1.234.", "4,5", "R$ ", "12% ", "**", "**a",
    "# ", "- a\n", "1. ", "a ", "a_", "e\u0301", "\u0323\u0301", "ﷺ", "😀", "각", "\ud800", "\x00", "“", "a,", ": 'a", "recomendo ", "x1", "aA",
)  # fmt: skip
SIZES = (10, 100, 1000, 2000, 3000, 8000, 16_000, 16_384, 16_385, 30_000, 100_000)


class Texts:
    """Draws completions, from a real answer as it stands to 100 KB of one mark."""

    def __init__(self, answers: Sequence[str], prompts: Sequence[str]) -> None:
        self._answers = answers
        self._prompts = prompts
        self._kinds: dict[Callable[[Random], str], float] = {
            self._real: 10, self._edited: 38, self._joined: 20, self._object: 12, self._query: 15, self._noise: 4, self._piled: 1,
        }  # fmt: skip

    def draw(self, rng: Random) -> str:
        """One completion of at most 100,000 characters."""
        (kind,) = rng.choices(list(self._kinds), list(self._kinds.values()))
        return kind(rng)[:100_000]

    def _real(self, rng: Random) -> str:
        return rng.choice(self._answers if rng.random() < 0.9 else self._prompts)

    def _edited(self, rng: Random) -> str:
        """A real answer with up to twelve places deleted, repeated, cut, or overwritten by fragments or pieces of other answers."""
        text = rng.choice(self._answers)
        for _ in range(rng.randint(1, 12)):
            place, length = rng.randint(0, len(text)), rng.choice((0, 0, 1, 3, 12, 60))
            other = rng.choice(self._answers)
            cut = rng.randint(0, len(other))
            new = rng.choice(
                (
                    "",
                    rng.choice(FRAGMENTS),
                    rng.choice(FRAGMENTS),
                    other[cut : cut + 40],
                    text[place : place + length] * 2,
                )
            )
            text = text[:place] + new + text[place + length :]
        return text

    def _joined(self, rng: Random) -> str:
        return rng.choice(("", " ")).join(rng.choices(FRAGMENTS, k=rng.randint(0, 60)))

    def _object(self, rng: Random) -> str:
        """JSON with the fields of an extraction, sound or broken in one of many ways."""
        fields = {name: rng.choice(VALUES) for name in rng.sample(FIELDS, rng.randint(0, len(FIELDS)))}
        text = json.dumps(fields, ensure_ascii=rng.random() < 0.3, indent=rng.choice((None, None, 2)))
        for _ in range(rng.randint(0, 3)):
            old, new = rng.choice(
                (('"', "'"), ("}", ",}"), ("}", ""), ("{", ""), (": ", ": R$ 1.234,"), ("1", "4,5"), (",", ""), ("true", "True"), ("null", "NaN"), ("[", "[" * 9), (":", ""))
            )  # fmt: skip
            text = text.replace(old, new, rng.choice((1, -1)))
        return rng.choice(("{}", "```json\n{}\n```", "Segue: {} Espero ter ajudado {{risos}}.", "{}{}")).replace(
            "{}", text
        )

    def _query(self, rng: Random) -> str:
        query = rng.choices((self._select(rng, 2), rng.choice(STATEMENTS), rng.choice(ENDLESS)), (96, 3.5, 0.5))[0]
        form = rng.choice(
            (
                "{}",
                "```sql\n{};\n```\nA consulta soma o total dos pedidos de cada loja.",
                "Veja:\n{}\n\nSoma 12 e 3,5%.",
            )
        )
        return form.replace("{}", query)

    def _select(self, rng: Random, depth: int) -> str:
        name = rng.choice(list(TABLES))
        table = f"({self._select(rng, depth - 1)}) AS s" if depth and rng.random() < 0.1 else name
        terms = [self._term(rng, TABLES[name]) for _ in range(8)]
        parts = [f"SELECT {rng.choice(('', '', 'DISTINCT '))}{', '.join(terms[: rng.randint(1, 4)])} FROM {table}"]
        if rng.random() < 0.2:
            parts.append(
                rng.choice((" JOIN {} USING(pedido_id)", " JOIN {} b ON b.rowid = 1", ", {}")).format(
                    rng.choice(list(TABLES))
                )
            )
        for clause in (
            " WHERE {} > {}",
            " WHERE {} IN (1, 'SP')",
            " GROUP BY {}",
            " HAVING {} > 1",
            " ORDER BY {} DESC",
            " LIMIT 5",
        ):
            if rng.random() < 0.25:
                parts.append(clause.format(*terms[4:]))
        if depth and rng.random() < 0.05:
            parts.append(f" UNION {self._select(rng, depth - 1)}")
        return "".join(parts)

    def _term(self, rng: Random, columns: Sequence[str]) -> str:
        term = rng.choice(columns if rng.random() < 0.9 else ODD_NAMES)
        while rng.random() < 0.35:
            term = rng.choice(CALLS).replace("{}", term)
        return term

    def _noise(self, rng: Random) -> str:
        highest = rng.choice((0x7F, 0x24F, 0xFFFF, 0x10FFFF))
        return "".join(chr(rng.randint(0, highest)) for _ in range(rng.randint(0, 200)))

    def _piled(self, rng: Random) -> str:
        """One to three marks again and again behind a beginning, up to 100,000 characters."""
        unit = "".join(rng.choices(UNITS, k=rng.randint(1, 3)))
        start = rng.choice(
            ("", "", '{"sentiment":', "SELECT a FROM t WHERE ", "```sql\nSELECT ", rng.choice(self._answers))
        )
        size = rng.choice(SIZES)
        return (start + unit * (size // len(unit) + 1))[:size]
