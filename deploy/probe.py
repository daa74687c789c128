"""`python deploy/probe.py /healthz`: ends with 0 if this container's web server answers 200 there.

For container engines; Kubernetes asks by itself.
"""

import http.client
import os
import sys

PATIENCE_SECONDS = 4


def status(path: str, port: int) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()


if __name__ == "__main__":
    port = int(os.environ.get("PORTAL_BIND", "127.0.0.1:8000").rpartition(":")[2])
    try:
        sys.exit(0 if status(sys.argv[1], port) == 200 else 1)
    except OSError as error:
        sys.exit(f"no answer: {error}")
