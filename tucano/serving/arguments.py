"""`tucano serve`: its arguments and examples. What it needs is imported when it runs."""

import argparse

from tucano.settings import PipelineSettings

HOST, PORT = "127.0.0.1", 8765
EXAMPLES = """examples:
  tucano serve                                    the champion of the storage runs, on http://127.0.0.1:8765
  tucano serve --port 0                           any free port
  tucano serve l4 --set storage=/data/runs        loaded as the profile l4 says (device, precision)
  tucano serve --set 'serving.routes={push: [tucano@challenger, champion, rules]}'
  tucano serve --set serving.log_requests=true --set serving.log_share=0.1

It prints where the token lies that every request has to give, and how to ask. With TOKEN set to it:
  curl -s localhost:8765/answer -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
    -d '{"task": "push", "text": "Crie um push para a trena, frete grátis."}'
"""


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "profile", nargs="?", default="laptop", help="how models are loaded, and from which storage (default: laptop)"
    )
    command.add_argument("--host", default=HOST, help=f"address to listen on (default: {HOST})")
    command.add_argument("--port", type=int, default=PORT, help=f"port; 0 for any free one (default: {PORT})")


def main(arguments: argparse.Namespace, settings: PipelineSettings) -> int:
    from tucano.serving.command import serve

    return serve(settings, arguments.host, arguments.port)
