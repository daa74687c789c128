"""A proxy that ends TLS, as stands before the portal in earnest: `python -m tests.idp.tls_proxy PORT UPSTREAM FOLDER`.

FOLDER holds `proxy.key` and `proxy.crt`. The host that the browser asked for is kept.
"""

import ssl
import sys
from pathlib import Path

from aiohttp import ClientSession, web
from yarl import URL

_HOP = ("Connection", "Content-Length", "Keep-Alive", "Transfer-Encoding")


def main(port: int, upstream: str, folder: Path) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(folder / "proxy.crt", folder / "proxy.key")
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", lambda request: forward(request, upstream))
    web.run_app(app, host="127.0.0.1", port=port, ssl_context=tls, print=None)


async def forward(request: web.Request, upstream: str) -> web.Response:
    headers = request.headers.copy()
    headers["X-Forwarded-Proto"], headers["X-Forwarded-For"] = "https", request.remote or ""
    async with (
        ClientSession(auto_decompress=False) as session,
        session.request(
            request.method,
            URL(f"{upstream}{request.raw_path}", encoded=True),  # as it was sent: it may be signed
            headers=headers,
            data=await request.read(),
            allow_redirects=False,
        ) as answer,
    ):
        kept = answer.headers.copy()
        for name in _HOP:
            kept.popall(name, None)
        return web.Response(status=answer.status, headers=kept, body=await answer.read())


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
