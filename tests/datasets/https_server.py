"""A web server on this machine that speaks https, with a certificate that nobody but the tests trusts (localhost.pem, valid until 2100)."""

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

CERTIFICATE = Path(__file__).with_name("localhost.pem")
Pages = dict[str, bytes | Callable[[BaseHTTPRequestHandler], None]]  # by path: the body of an answer, or what answers as it likes


class Server(ThreadingHTTPServer):
    """Answers that are broken off are part of the tests."""

    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: the test output is for tests."""


@contextmanager
def serving(pages: Pages, *, secure: bool = True) -> Iterator[str]:
    """The address of a server of these pages; anything else is 404."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = pages.get(self.path)
            if callable(page):
                page(self)
                return
            self.send_response(404 if page is None else 200)
            self.send_header("Content-Length", str(len(page or b"")))
            self.end_headers()
            self.wfile.write(page or b"")

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = Server(("127.0.0.1", 0), Handler)
    if secure:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http{'s' * secure}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def both_repositories(pages: Pages, monkeypatch: pytest.MonkeyPatch, cache: Path) -> Iterator[str]:
    """OpenML and UCI are this server, whose certificate is trusted; nothing is here yet, and the cache is empty."""
    from simopt.data.datasets import loader

    for variable in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "SIMOPT_DATA"):
        monkeypatch.delenv(variable, raising=False)
    with serving(pages) as address:
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
        monkeypatch.setenv("SIMOPT_OPENML", address)
        monkeypatch.setenv("SIMOPT_UCI", address + "/")
        monkeypatch.setenv("SIMOPT_CACHE", str(cache))
        monkeypatch.setattr(loader, "source_tree", lambda: None)
        yield address
