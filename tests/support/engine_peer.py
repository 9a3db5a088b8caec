"""A worker process of its own, for scenarios with several.

`python -m tests.support.engine_peer DATABASE [SECONDS OF GRACE]` says "working" when it has signed on; drains
on SIGTERM.
"""

from __future__ import annotations

import sys
import threading

from orchestrator.engine.worker import Worker


def main() -> None:
    worker = Worker(sys.argv[1], concurrency=2)
    threading.Thread(target=_tell, args=(worker,), daemon=True).start()
    worker.run(handles_signals=True, grace=float(sys.argv[2]) if len(sys.argv) > 2 else 10)
    print("drained", flush=True)


def _tell(worker: Worker) -> None:
    worker.start()
    print("working", flush=True)


if __name__ == "__main__":
    main()
