"""Breaks the core, one line at a time, in a copy, and looks whether the rules' tests notice.

python -m tests.mutation            all, and writes docs/explanation/mutations.md
python -m tests.mutation 66 75      those of these rules only; writes nothing
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.mutation.page import PAGE, write_page
from tests.mutation.table import MUTATIONS, Mutation

ROOT = Path(__file__).parents[2]
NEEDED = ("orchestrator", "handlers", "tests", "schemas", "pyproject.toml")
SECONDS = 300
_FAILED = re.compile(r"^(?:FAILED|ERROR) tests/unit/core/(test_\w+\.py::\w+)", re.MULTILINE)


def main(arguments: list[str]) -> int:
    rules = {int(argument) for argument in arguments}
    chosen = [mutation for mutation in MUTATIONS if not rules or rules & set(mutation.rules)]
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory)
        copy_sources(copy)
        before = failing_tests(copy, chosen)
        if before:
            print("these fail without any mutation:", *sorted(before), sep="\n  ", file=sys.stderr)
            return 2
        survived = [mutation for mutation in chosen if not is_killed(copy, mutation)]
    print(f"{len(chosen) - len(survived)} of {len(chosen)} killed")
    if not rules and not survived:
        write_page()
        print(f"written: {PAGE.relative_to(ROOT)}")
    return 1 if survived else 0


def copy_sources(copy: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")
    for name in NEEDED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=ignored)
        else:
            shutil.copy(source, copy / name)


def is_killed(copy: Path, mutation: Mutation) -> bool:
    """All the tests named fail on the mutated copy, which is put right again."""
    path = copy / "orchestrator" / "core" / mutation.file
    text = path.read_text(encoding="utf-8")
    path.write_text(mutate(text, mutation), encoding="utf-8")
    unnoticed = set(mutation.tests) - failing_tests(copy, [mutation])
    path.write_text(text, encoding="utf-8")
    verdict = f"SURVIVED {', '.join(sorted(unnoticed))}" if unnoticed else "killed"
    print(f"{mutation.file}: {mutation.mistake}: {verdict}", flush=True)
    return not unnoticed


def mutate(text: str, mutation: Mutation) -> str:
    if text.count(mutation.old) != 1:
        raise SystemExit(f"{mutation.file} does not contain exactly once: {mutation.old!r}")
    return text.replace(mutation.old, mutation.new)


def failing_tests(copy: Path, mutations: list[Mutation]) -> set[str]:
    """`file::name` of those that fail among the tests named by these mutations."""
    tests = sorted({f"tests/unit/core/{test}" for mutation in mutations for test in mutation.tests})
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rfE", "-p", "no:randomly", "--timeout=60", "--tb=no", *tests],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "300"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise SystemExit(done.stdout + done.stderr)
    return set(_FAILED.findall(done.stdout))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
