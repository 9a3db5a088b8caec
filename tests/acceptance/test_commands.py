"""What these tests type is forked, and is what an interpreter is that was started anew."""

from __future__ import annotations

import re
from collections.abc import Callable
from subprocess import CompletedProcess

import pytest

from tests.acceptance.command import Place
from tests.support.commands import run_anew, run_command

TELLING = """\
import atexit, os, signal, stat, sys, threading

def greet(name):
    print(sys.argv[1:], sys.path[0] == os.getcwd(), sys.modules["__main__"].__spec__.name)
    print(os.isatty(0), os.isatty(1), os.isatty(2), sorted(pipes()))
    print([each.name for each in signal.Signals if signal.getsignal(each) is not signal.SIG_DFL])
    print(os.getsid(0) == os.getpgid(0), os.nice(0), sorted(os.environ))
    if name == "nobody":
        os.kill(os.getpid(), signal.SIGKILL)
    atexit.register(print, "at the end", file=sys.stderr)
    threading.Thread(target=print, args=["beside"], kwargs={"file": sys.stderr}).start()
    return "hello"

def pipes():
    # How many files are open depends on what the database does at the moment.
    for number in os.listdir("/dev/fd"):
        try:
            mode = os.fstat(int(number)).st_mode
        except OSError:
            continue  # of the listing itself
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
            yield int(number) < 3, stat.filemode(mode)[0]
"""
RUN = ("run", "flows/hello.flow.yaml", "--id", "r-1", "--input")


@pytest.mark.parametrize(
    ("words", "stdin", "code"),
    [
        (["--version"], "", 0),
        (["fly"], "", 2),
        (["lint", "flows/hello.flow.yaml"], "", 0),
        (["lint", "-"], "flow: A\nnope: é\n", 1),
        ([*RUN, '"Ada"'], "", 0),
        ([*RUN, '"nobody"'], "", -9),
    ],
    ids=str,
)
def test_a_forked_command_comes_to_what_one_started_anew_does(
    place: Place, words: list[str], stdin: str, code: int
) -> None:
    place.write("handlers/hello.py", TELLING)

    def told(run: Callable[..., CompletedProcess[str]], database: str) -> tuple[int, str, str]:
        environment = place.environment(ORCHESTRATOR_DB=f"sqlite:///{database}.db")
        done = run(words, place.directory, environment, stdin)
        return done.returncode, re.sub(r"started .*", "", done.stdout), done.stderr

    forked = told(run_command, "one")
    assert forked == told(run_anew, "two")
    assert forked[0] == code
