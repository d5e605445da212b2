"""Forms of frequent Portuguese verbs, so that the judge of fluency tells verbs from nouns with the same ending."""

from tucano.truth.reading import word_set

_REGULAR = word_set(
    """
    abrir aceitar achar acompanhar acordar acrescentar adiar adotar afastar agilizar agradar agradecer
    agrupar ajudar ajustar alcancar alertar alterar amar ampliar analisar andar apagar aparecer apontar
    aprender apresentar aprovar aproveitar aproximar assistir atender atingir atrair atrapalhar atrasar
    atravessar atualizar aumentar avaliar avancar avisar baixar bastar bater beber brincar buscar caber cair
    calcular caminhar cancelar cansar causar chamar chegar chorar chover cobrar cobrir colocar combinar
    comecar comentar comer comparar completar comprar comunicar concluir conectar conferir confiar confirmar
    conhecer conquistar conseguir considerar construir consultar contar continuar contratar contribuir
    controlar converter convidar correr corrigir costumar costurar cozinhar crescer criar cuidar cumprir
    curtir custar decidir declarar deixar demorar depender derrubar descer descobrir descrever desejar
    desistir detalhar devolver digitar diminuir discutir dividir divulgar dobrar dominar dormir durar
    economizar elevar eliminar elogiar encher encontrar ensinar entender entrar entregar enviar errar
    escolher escrever escutar esperar esquecer estudar evitar existir experimentar explicar falar faltar
    favoritar fechar ficar finalizar formar funcionar ganhar garantir gastar gerar girar gostar guardar
    haver imaginar impedir implantar incluir indicar informar iniciar insistir investigar investir jogar
    juntar lancar lavar lembrar levantar levar ligar limitar limpar manter marcar matar medir melhorar
    mencionar merecer monitorar montar morar morrer mostrar mudar negar negociar oferecer ordenar ouvir
    padronizar pagar parar parecer participar partir passar passear pedalar pedir pegar pensar perceber
    perder perguntar permitir pesar pintar piorar planejar plantar precisar preferir preparar priorizar
    procurar promover proteger publicar puxar quebrar querer reativar receber reclamar recomendar reconhecer
    reduzir reforcar registrar renegociar renovar repetir representar resolver responder resultar reunir
    rever revisar saber sair salvar secar segmentar seguir sentar sentir separar servir significar
    simplificar sobrar sofrer solicitar somar sonhar subir sugerir superar surgir tentar terminar testar
    tirar tocar tomar tornar trabalhar transformar tratar treinar trocar usar valer variar vender vestir
    viajar virar visitar viver voltar
    """
)
_IRREGULAR = word_set(
    """
    aparece conheca contem cresca da deram deu diga digo disse disseram diz durma eram esta estao estava
    estavam esteve faca facam faco faz fez fizeram foram fui ia iam leia mantem mantenha mantenham ofereca
    ofereco ouca peca pecam pede pedem podemos podia podiam poe posso pude quer quis quiseram reveja sabe
    sabia sabiam sao sei seja sejam siga sinta sirva sou tem temos tenha tenham tenho teve tinha tinham
    tiveram traz trouxe va vai vale vamos ve veio veja vejam vem venha venham venho vieram viram viu vou
    """
)
_NOUNS = word_set(
    """
    ajuda ajuste alerta analise apoio atraso aumento avaliacao aviso baixa bebe busca cama cobra cobre
    combina compra compras conta contas contato controle conversa corte cuidado custa custo entrega
    entregas envio escolha espera estudo falta forma gasto gera gira jogo jogos lembranca limite lista marca
    medida medidas meta metas mostra mudanca negocio nota notas oferta ofertas pacote pagamento pagina
    partida passeio pedido pedidos pena perda pergunta pesa pesquisa planta preco procura prova queda
    receita recompra reforma renova resposta resultado resumo saida servico sobra soma sonho surpresa teste
    testes toca tomada trabalho trato troca trocas uso venda vendas viagem visita visitas volta
    """
)
"""Words that are nouns as often as verbs; they count as nouns."""


def _regular(verb: str) -> dict[str, str]:
    stem, ending = verb[:-2], verb[-2:]
    past = {"ar": "ou aram ava avam ei", "er": "eu eram ia iam i", "ir": "iu iram ia iam i"}[ending].split()
    now = {"ar": "a am amos o", "er": "e em emos o", "ir": "e em imos o"}[ending].split()
    order = {"ar": "e em emos", "er": "a am amos", "ir": "a am amos"}[ending].split()
    soft = stem[:-1] + {"c": "qu", "g": "gu"}.get(stem[-1], stem[-1]) if ending == "ar" else stem
    found = {verb: "v:infinitive"}
    found |= {stem + end: "v:past" for end in past}
    found |= {stem + end: "v:present" for end in now}
    return found | {form + end: "v:order" for end in order for form in (stem, soft)}


FORMS: dict[str, str] = {form: kind for verb in sorted(_REGULAR) for form, kind in _regular(verb).items()}
FORMS |= dict.fromkeys(_IRREGULAR, "v:present")
FORMS = {form: kind for form, kind in FORMS.items() if form not in _NOUNS and len(form) > 1}
"""{plain form: what kind of form it is}"""
