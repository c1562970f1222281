"""Serve a compact model over HTTP: ``python server.py model.quorate [port]``.

Needs only NumPy and quorate. POST {"rows": [[5.1, 3.5, ...], ...]} to any path and get
{"labels": [...]}; with "probabilities": true also {"probabilities": [[...], ...]}.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

from quorate import serving

MODEL = serving.load(sys.argv[1])  # once; all threads share it


class Handler(BaseHTTPRequestHandler):
    """Handle requests, with one thread per connection."""

    protocol_version = "HTTP/1.1"  # connections stay open
    disable_nagle_algorithm = True

    def do_POST(self):
        """Return labels, or an error message about the rows."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            question = json.loads(body)
            rows = np.array(question["rows"], dtype=float)  # null is a missing value
            status, answer = 200, {"labels": MODEL.predict(rows).tolist()}
            if question.get("probabilities"):
                answer["probabilities"] = MODEL.predict_proba(rows).tolist()
        except (KeyError, TypeError, ValueError) as error:
            status, answer = 400, {"error": f"{type(error).__name__}: {error}"}
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("", int((*sys.argv, "8000")[2])), Handler)
    print(f"listening on port {server.server_port}", flush=True)
    server.serve_forever()
