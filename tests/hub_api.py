"""A hub on this machine that speaks what `upload_folder` calls, and keeps what it is given."""

import json
from base64 import b64decode
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from programs import answering


class Hub(ThreadingHTTPServer):
    """`files`: {name: content} of the only repository. `asked`: method, path and token of each request."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.files: dict[str, bytes] = {}
        self.blobs: dict[str, bytes] = {}
        self.made: list[dict[str, object]] = []
        self.asked: list[tuple[str, str, str]] = []
        self.refuses = False


def serving() -> AbstractContextManager[Hub]:
    return answering(Hub())


class Handler(BaseHTTPRequestHandler):
    server: Hub

    def do_POST(self) -> None:
        body = self._read()
        if self.server.refuses:
            return self._reply(403, {"error": "You may not write here."})
        if self.path.endswith("/api/repos/create"):
            self.server.made.append(json.loads(body))
            return self._reply(200, {"url": f"{self.server.url}/ana/loja"})
        if self.path.endswith("/preupload/main"):
            modes = [self._mode(file["path"]) for file in json.loads(body)["files"]]
            return self._reply(200, {"files": modes})
        if self.path.endswith("/info/lfs/objects/batch"):
            objects = [self._upload(one["oid"], one["size"]) for one in json.loads(body)["objects"]]
            return self._reply(200, {"transfer": "basic", "objects": objects})
        if self.path.endswith("/commit/main"):
            self._commit(body)
            return self._reply(200, {"commitUrl": f"{self.server.url}/ana/loja/commit/1", "commitOid": "1" * 40})
        return self._reply(200, {"errors": [], "warnings": []})  # the card's header is asked about

    def do_PUT(self) -> None:
        self.server.blobs[self.path.rpartition("/")[2]] = self._read()
        self._reply(200, {})

    def do_GET(self) -> None:
        self._read()
        self._reply(404, {"error": "not here"})

    def _mode(self, path: str) -> dict[str, object]:
        large = path.endswith((".safetensors", ".gguf"))
        return {"path": path, "uploadMode": "lfs" if large else "regular", "shouldIgnore": False}

    def _upload(self, oid: str, size: int) -> dict[str, object]:
        return {"oid": oid, "size": size, "actions": {"upload": {"href": f"{self.server.url}/blobs/{oid}"}}}

    def _commit(self, body: bytes) -> None:
        for line in map(json.loads, body.splitlines()):
            value = line["value"]
            if line["key"] == "file":
                self.server.files[value["path"]] = b64decode(value["content"])
            elif line["key"] == "lfsFile":
                self.server.files[value["path"]] = self.server.blobs[value["oid"]]

    def _read(self) -> bytes:
        self.server.asked.append((self.command, self.path, self.headers.get("Authorization", "")))
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _reply(self, status: int, content: dict[str, object]) -> None:
        written = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(written)))
        self.end_headers()
        self.wfile.write(written)

    def log_message(self, *args: object) -> None:
        pass
