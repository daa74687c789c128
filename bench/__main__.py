"""All benchmarks, one after the other: `make bench`."""

import subprocess
import sys

BENCHES = ("scheduling", "month", "pull", "freshness", "writers", "pages", "lighthouse", "evictions", "signin", "scim")

for name in BENCHES:
    print(f"== {name}", flush=True)
    subprocess.run([sys.executable, "-m", f"bench.{name}"], check=True)
