"""The other process of W3p: publishes one message to each waiting run and tells when."""

from __future__ import annotations

import random
import sys
import time

from orchestrator.engine.client import Client


def main() -> None:
    path, count = sys.argv[1], int(sys.argv[2])
    with Client(path) as client:
        client.search()
        for number in range(count):
            time.sleep(random.uniform(0.002, 0.006))
            sent_at = time.perf_counter()
            client.publish(f"m{number}", "go", number)
            print(number, sent_at, flush=True)


if __name__ == "__main__":
    main()
