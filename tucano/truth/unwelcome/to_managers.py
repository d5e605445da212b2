"""What has the words of advice and is none: the task told again, an analysis that is promised, encouragement."""

import re

_TASK_AGAIN = re.compile(
    r"\bvoce (?:me )?(?:pediu|quer|solicitou) (?:uma? )?(?:insight|analis|recomend|acoes|ajuda|sugest)"
    r"|\b(?:a|minha|sua) (?:tarefa|missao|solicitacao) (?:e|era|consiste)\b|\bfo(?:i|ram) (?:pedid|solicitad)[oa]s?\b"
    r"|\brecomend\w+ que voce (?:recomend|analis|suger|sugira)|\bpor favor,? (?:recomende|analise|sugira|liste|de )"
    r"|\b(?:uma? bo[am] (?:analise|analista|resposta|texto)|para responder,)[^.;]{0,80}\b\w+(?:aria|eria|iria)\b"
    r"|\b(?:eu )?comecaria citando\b|\bo texto (?:abaixo|acima|a seguir)\b|\bnesta (?:resposta|analise"
    r"|mensagem),? (?:falarei|vou|irei|trato|abordo)"
    r"|\b(?:vou|irei|pretendo) (?:analisar|estudar|avaliar|preparar|elaborar|pensar|fazer|responder"
    r"|recomendar)\b[^;\n]{0,120}"
    r"\b(?:amanha|depois|em breve|mais tarde|assim que)\b"
    r"|\bplano de (?:melhoria|acao) sobre [^.;]{0,60}: recomendar acoes\b|\b(?:tomar|tomem|tome) (?:as )?(?:medidas"
    r"|providencias|acoes) (?:adequad|necessari|cabive)"
    r"|\bfazer algo a respeito\b"
)
_CHEER = re.compile(
    r"\barregacar as mangas\b|\bunir forcas\b|\bsinergia\b|\bmindset\b|\benergia positiva\b|\bzona de conforto\b"
    r"|\bfora da caixa\b"
    r"|\bvestir a camisa\b|\bquebrar paradigmas\b|\bfoco, forca e fe\b|\bdar o (?:seu |nosso )?melhor\b"
    r"|\bfazer a diferenca\b"
    r"|\b(?:(?:melhorar|inovar|crescer|vencer|evoluir|acreditar|persistir|lutar|avancar|sonhar)\b(?:, | e )){1,4}"
    r"(?:melhorar|inovar|crescer|vencer|evoluir|acreditar|persistir|lutar|avancar|sonhar)\b"
)
_MEANS = re.compile(
    r"\b(?:cupo[mn]|frete|fotos?|medidas (?:dos|das|de)|estoque|checkout|kits?|transportadora|carrinho|e-mail"
    r"|whatsapp|pix|prazo|rotas?"
    r"|embalage|avaliacoes|teste|testar|lembrete|pagina)\b"
)


def says_nothing(sentence: str) -> bool:
    """Whether a plain sentence tells the task again, or cheers up and names no means."""
    return bool(_TASK_AGAIN.search(sentence) or (_CHEER.search(sentence) and not _MEANS.search(sentence)))
