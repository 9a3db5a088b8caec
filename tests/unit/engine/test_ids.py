"""Random ids."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from orchestrator.engine.ids import random_id

COUNT = 1000
FORKING = """
import os
from orchestrator.engine.ids import random_id
random_id()
reads, writes = os.pipe()
if os.fork() == 0:
    os.write(writes, random_id().encode())
    os._exit(0)
print(os.read(reads, 36).decode(), random_id())
"""


def test_an_id_is_a_random_uuid() -> None:
    for _ in range(COUNT):
        text = random_id()
        made = uuid.UUID(text)
        assert str(made) == text
        assert (made.version, made.variant) == (4, uuid.RFC_4122)


def test_no_two_threads_are_given_the_same() -> None:
    with ThreadPoolExecutor(8) as pool:
        lists = list(pool.map(lambda _: [random_id() for _ in range(COUNT)], range(8)))
    assert len({each for ids in lists for each in ids}) == 8 * COUNT


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_makes_others() -> None:
    told = subprocess.run([sys.executable, "-c", FORKING], capture_output=True, text=True, check=True)
    ours, others = told.stdout.split()
    assert ours != others
