"""The system prompts, one per task. Short: they carry the answer's fields, the store's tables and two push examples."""

from tucano.prompts import Task

SYSTEM_PROMPTS: dict[Task, str] = {
    "extraction": (
        "Extraia da avaliação um JSON com sentiment, sentiment_score, category, delivery_issue, product_issue, seller_issue, "
        "churn_risk, repurchase_intent, main_complaint, summary."
    ),
    "sql_qa": (
        "Responda com SQL (SQLite) e explique com números. Tabelas: pedidos(pedido_id,cliente_id,mes,status,dias_atraso) "
        "clientes(cliente_id,estado) itens(pedido_id,produto_id,preco,frete) produtos(produto_id,categoria) "
        "pagamentos(pedido_id,tipo,parcelas,valor) avaliacoes(pedido_id,nota)"
    ),
    "insights": "Analise os números e recomende ações em tópicos curtos.",
    "push": "Escreva um push de até 120 caracteres. Ex.: Seu tênis espera por você! Oi! Mochila com 20% off, aproveite!",
}
