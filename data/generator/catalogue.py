"""The things that the synthetic shop sells, with their article, by category."""

CATALOGUE: dict[str, str] = {
    "eletrônicos": "o fone de ouvido|a caixa de som|a câmera|o carregador|a smart tv|o relógio digital|o projetor",
    "informática": "o teclado|o mouse|o notebook|a impressora|o monitor|o pendrive|a webcam",
    "telefonia": "o celular|a capinha|a película|o cabo usb|o suporte de celular|o chip",
    "móveis": "o sofá|a cadeira|a estante|a mesa|o armário|a cômoda|o guarda-roupa",
    "cama e banho": "o lençol|a toalha|o edredom|o travesseiro|a fronha|o roupão",
    "beleza": "o perfume|o batom|o xampu|a maquiagem|o secador|o creme facial|o esmalte",
    "esporte": "a bicicleta|a bola|a esteira|o tênis de corrida|a raquete|o capacete|o haltere",
    "brinquedos": "a boneca|o carrinho|o quebra-cabeça|o jogo de tabuleiro|a pelúcia|o patinete",
    "cozinha": "a panela|a cafeteira|o liquidificador|a faca|a frigideira|a fritadeira|o forno",
    "moda": "a camiseta|a calça|o vestido|a jaqueta|o sapato|a bolsa|a saia",
    "bebês": "o carrinho de bebê|a mamadeira|a fralda|o berço|a chupeta|a banheira",
    "pet": "a ração|a coleira|a casinha|o arranhador|o comedouro|a caminha",
    "automotivo": "o pneu|a bateria|o tapete|o farol|a capa de banco|o alarme",
    "ferramentas": "a furadeira|o martelo|a serra|a parafusadeira|a trena|o alicate",
}
"""{category: «article name|article name»}"""
