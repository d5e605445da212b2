"""A client as users of the `openai` package write it: chats on standard input, answers on standard output, as JSON.

    OPENAI_API_KEY=… python benchmarks/serve_client.py http://127.0.0.1:8765/v1 tucano 24 < chats.json

It imports nothing of this project, because it also runs in the interpreter of vLLM, which brings that package.
"""

import json
import sys

from openai import AuthenticationError, OpenAI


def main(url: str, model: str, most: int) -> None:
    chats = json.load(sys.stdin)
    client = OpenAI(base_url=url, max_retries=5)
    answers = [
        client.chat.completions.create(model=model, messages=chat, temperature=0, max_tokens=most) for chat in chats
    ]
    try:
        OpenAI(base_url=url, api_key="wrong").chat.completions.create(model=model, messages=chats[0], max_tokens=most)
        refused = None
    except AuthenticationError as error:
        refused = error.status_code
    known = [one.id for one in client.models.list().data]
    texts = [(answer.choices[0].message.content or "").strip() for answer in answers]
    print(json.dumps({"answers": texts, "models": known, "without the key": refused}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
