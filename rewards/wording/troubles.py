"""What customers complain of: kinds of trouble, whether two complaints are about the same one, and whether a text
praises or complains. Each kind is a short list of turns; what they miss is told by the words that texts share.
"""

import re
from functools import lru_cache

from rewards.parsing.text import REMEMBERED, any_of, fold, words

_KINDS = {
    "late": "atras;demor;fora|alem|depois|apos|antes|estour|descumpr|desrespeit|passou prazo|previst|combinad;"
    "prazo nao|estour|venc|descumpr|perd|longo;tarde|tardi;lent entreg|envio;levou|dias|semanas depois|semanas|apos",
    "missing": "nao|nunca|nada|sem cheg|receb|entreg|veio|apareceu;extravi;sumi(?!r com);parad|perdid|retid correi"
    "|transport|caminho|centro;pedid|encomend|entreg|pacot|rastre parad|perdid|retid|travad|pendent|aberto|nao|sumi"
    "|desaparec;"
    "aguard|esper|cade|falt|ausencia|sem produt|pedid|encomend|entreg|mercador;esper chegar|o;nao recebimento",
    "silent": "nao|nem|nunca|ninguem|sem|falta|ausenc|nenhum|demor respo|retorn|contat|atende|explic|satisfac|procur;"
    "ignor;silenci;vacuo;"
    "vendedor|loja|suporte|chat sumi|calad|omiss;mensage|pergunt|email|e-mail sem|ignor",
    "refused": "reembols;estorn;devol;ressarc;restitu;dinheiro volta;neg|recus|dificult|nao troc;troca neg|recus|nao",
    "service": "atend|vendedor|loja|suporte|sac ruim|gross|rude|pessim|mal|desrespeit|deseduc|horriv;gross(?!ur);"
    "mal atendid|tratad;falta|ma|pouco respeito|educac|vontade|caso;desrespeit;descaso client|consum|compr;rude",
    "invoice": "nota fiscal;cupom fiscal;nf;danfe;sem|nao|falta|faltou nota",
    "packaging": "embal|caixa|pacote|lacre|embrulh amass|rasg|abert|danific|violad|molhad|umid|romp|quebr|avari|frag"
    "|ruim|pessim|estrag;amass|rasg|danific|violad embal|caixa|pacote;mal embal|protegid;sem prote|lacre|plastico",
    "unlike": "diferente|diverg|distint|menor|maior|abaixo anunc|foto|descri|imagem|site|propagand|divulg;"
    "anunc|foto|descri|propagand engan|fals|mentir|diferente|nao;nao confere|corresponde|bate|condiz|igual|como|fiel",
    "wrong": "errad;trocad;outr cor|produt|model|tamanh|item|volt|mercador|coisa|ped;"
    "cor|model|tamanh|produt|item|numer diferent|diverg|incorret|equivoc|nao|trocad;troca|erro|confus cor|model|envio"
    ";nao|diferente ped|compr|escolh|encomend;veio|cheg|mand|envi|receb outr|lugar|vez",
    "incomplete": "falt pec|part|iten|item|acess|unid|cabo|carreg|manual|parafus|tampa|controle;incomplet;metade;"
    "veio|vieram|chegou sem|falt;veio|vier|cheg|envi|mand|receb 1|2|3|um|uma|so(?![a-z]) vez|inves;"
    "veio|vier|cheg|envi|mand|receb 1|2|3|so(?![a-z]) de|dos|das;so|apenas veio|cheg|envi|mand|receb|parte|um|uma;"
    "menos pec|iten|unid;quantidade",
    "cancelled": "cancel;sem|falta|fora|acab estoque;indisponib;vend nao t",
    "poor": "qualidade|materi|acabam|costur|tecid|plastic ruim|frac|baix|pessim|mal|frag|inferior|duvid|precari|sofr"
    "|desejar|defeit|horriv;ruim|baix|pessim|mau|ma|pouc|falt|sem|falh|frac|defeit|inferior qualidade|acabam|materi"
    "|costur;mal feit|acabad;porcaria;vagabund;fragil;descost",
    "broken": "defeit;quebr;trinc;rach;lasc;queim;pif(?:ou|ad);estrag;nao func|lig|carreg|acend|presta|esquent|gela"
    ";par|deix func;parou;mau|mal func;durou pouco|so|apenas|menos;produt|item|aparelh|peca danific|avari|amass|arranh"
    "|risc|problema;veio|vier|cheg problem|avari|falha",
}


def _turn(steps: str) -> str:
    """The pattern of a turn: beginnings of words in this order, with three words between two of them at most."""
    return r"\b" + r"\w*(?:\W+\w+){0,3}?\W+".join(f"(?:{step})" for step in steps.split())


KINDS = {kind: re.compile("|".join(map(_turn, turns.split(";")))) for kind, turns in _KINDS.items()}
"""Of folded text."""
_LACKED = frozenset({"missing", "silent", "refused", "invoice"})
"""Kinds that are told by a denial themselves."""
_DENIED = re.compile(
    r"\b(?:(?:nao|nunca)(?: mais)?(?: (?:houve|ha|teve|tem|foi|veio|chegou|e|esta\w*)(?: (?!e\b)\w+){0,2})?"
    r"|(?:nenhum\w*|sem|zero|nem|nada)(?: (?!e\b)\w+){0,2}) $"
)

_INSIDE = re.compile(r".\bnao (?:foi|veio|e|esta\w*)\b")


@lru_cache(maxsize=REMEMBERED)
def kinds_of(told: str) -> frozenset[str]:
    """Which kinds of trouble a text complains of; a denied one («nenhum atraso») is none."""
    folded = fold(told)
    return frozenset(
        kind
        for kind, turns in KINDS.items()
        if any(kind in _LACKED or not _is_denied(folded, found) for found in turns.finditer(folded))
    )


def _is_denied(folded: str, found: re.Match[str]) -> bool:
    """Whether a denial stands in front of a trouble, or within one that does not begin with it."""
    in_front = folded[max(0, found.start() - 40) : found.start()]
    return bool(_DENIED.search(in_front) or _INSIDE.search(found[0]))


def denies(complaint: str) -> bool:
    """Whether a complaint says of a trouble that there was none («não houve atraso»)."""
    folded = fold(complaint)
    named = [found for kind, turns in KINDS.items() if kind not in _LACKED for found in turns.finditer(folded)]
    return bool(named) and all(_is_denied(folded, found) for found in named)


_ANY = any_of("""
    produt* entreg* loja* compr* pedid* client* avali* nota* muito* mais* para* pela* pelo* com* sobre* veio* receb*
    chego* item* por* dos das que nao sem foi bem bom boa uma* gost* satis* insat* recla* consum* elogi*
    """)
"""Words of any review."""


@lru_cache(maxsize=REMEMBERED)
def stems(told: str) -> frozenset[str]:
    """Beginnings of the words that tell what a text is about."""
    return frozenset(word[:5] for word in words(told) if len(word) > 2 and word.isalpha() and not _ANY.match(word))


SECOND = 0.9
"""Agreement of another trouble that the review tells of as well: which is the main one is open."""


def same_trouble(said: str, wanted: str, review: str) -> float:
    """How much a complaint is the expected one, in [0, 1]: of its kind, half of its words, or nearly all in words of
    the review."""
    named, expected, heard = kinds_of(said), kinds_of(wanted), kinds_of(review)
    own, theirs = stems(said), stems(wanted)
    if denies(said) or len(named - heard - expected) > 1:
        return 0.0
    if named & expected:
        return 1.0
    told = own & (stems(review) | theirs)
    shared = 2 * len(own & theirs) / max(1, len(theirs))
    heard_so = len(told) / (0.6 * len(own)) if len(told) >= 2 else 0.0
    return min(1.0, max(shared, heard_so, SECOND if named and expected and named <= heard else 0.0))


_PRAISE = any_of("""
    otim* excelen* rapidez perfeit* maravilh* ador* amou amei satisfeit* recomend* feliz gost* content* encant* super*
    lind* elogi* parab* compraria voltaria
    """)
_BLAME = any_of("""
    pessim* ruim horriv* defeit* quebr* decep* insatisf* reclam* infeliz arrepend* caro cara problem* atras* demor*
    estrag* abaixo nunca frac* negou negad* recus* reembols* aler* mentir* prejuiz* errad* falt* furios* revolt*
    baixa ma
    """)
_NOT = re.compile(r"\b(?:nao(?! so)|nem|sem|nenhum\w*|zero|jamais|nunca|longe|nada)(?: \w+){0,3} $")


@lru_cache(maxsize=REMEMBERED)
def praise_and_blame(told: str) -> tuple[int, int]:
    """How many words of praise and of blame a text has; a denied praise is blame, a denied blame nothing."""
    folded = fold(told)
    praise, blame = (
        [bool(_NOT.search(folded[max(0, word.start() - 40) : word.start()])) for word in turns.finditer(folded)]
        for turns in (_PRAISE, _BLAME)
    )
    return praise.count(False), blame.count(False) + praise.count(True)
