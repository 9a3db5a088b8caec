"""What handlers of a rehearsal can be made to do, and what is real."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.support.rehearsing import differences_of, perform

FLOW = """
flow: F
handlers: {module}
input: integer
attributes:
  status: string
  progress: {{type: string, map: true}}
channels:
  token: string
  mail: {{type: string, map: true, external: true}}
start: A
steps:
  A:
    input: integer
    wait_for:
      handler: wait
      may: {{publish: [token]}}
      conditions: {{token: {{channel: token}}, hour: {{timer: 1h}}}}
    execute: {{handler: work, may: {{publish: [token, mail], set: [status, progress], cancel: [B]}}}}
    result: {{name: value, type: integer}}
    decide:
      - {{choice: again, go_to: B}}
      - {{graceful_complete: "${{value}}"}}
  B:
    wait_for: {{until: {{channel: mail, key: x}}}}
    graceful_complete: b
rpcs:
  ask: {{input: string, output: string, handler: answer}}
"""


def flow(module: str) -> str:
    return textwrap.dedent(FLOW).format(module=module)


def test_replies_do_all_that_handlers_can(tmp_path: Path) -> None:
    rehearsals = """
        rehearsals:
          - name: effects
            input: 1
            handlers:
              A.wait_for: {any_of: [token, hour], publish: {token: t}, local: {note: n}, takes: 1s}
              A:
                returns: 4
                set: {status: done, progress: {a: x, b: y}}
                publish: [{mail: {k: one}}, {channel: mail, key: k, value: two}, {token: left}]
            expect:
              output: 4
              took: 1s
              attributes: {status: done, progress: {a: x, b: y}}
              messages: {token: [left], mail: {k: [one, two]}}
          - name: a chosen decision, a skipped wait, an RPC
            input: 1
            handlers:
              A.wait_for: {skip: true}
              A: {choose: again, returns: 1}
              rpc.ask: [{returns: first}, {raises: Rejected, message: no more}]
            events:
              - {at: 1m, rpc: ask, input: hm, expect: {output: first}}
              - {at: 2m, rpc: ask, input: hm, expect: {error: rejected, message: no more}}
              - {at: 3m, publish: {mail: {x: go}}}
            expect: {output: b, path: [A-1, B-1]}
          - name: groups
            input: 1
            handlers:
              A.wait_for: {any_combination_of: [[token, hour], [hour]]}
              A: {returns: 1}
            expect: {output: 1, took: 1h}
        """
    assert differences_of(tmp_path, flow("handlers.nowhere"), rehearsals) == []


def test_a_scripted_result_of_the_wrong_type_fails_the_attempt(tmp_path: Path) -> None:
    rehearsals = """
        rehearsals:
          - name: wrong
            input: 1
            handlers: {A.wait_for: {skip: true}, A: [{returns: text}, {returns: 2}], rpc.ask: {returns: x}}
            expect: {output: 2, took: 1s}
        """
    assert differences_of(tmp_path, flow("handlers.nowhere"), rehearsals) == []


HANDLERS = """
from orchestrator import Context, skip


def wait(ctx: Context, number: int):
    return skip()


async def work(ctx: Context, number: int) -> int:
    answer = await ctx.client.aio.rpc(ctx.flow_id, "ask", "how much?")
    ctx.client.start("F", "other", 10, delay=60)
    ctx.attributes["status"] = answer + " " + ctx.client.describe("other")["status"]
    return number * 2


async def answer(question: str) -> str:
    return "much"
"""


def test_real_handlers_are_called_and_have_a_client(tmp_path: Path) -> None:
    (tmp_path / "real_handlers_of_a_rehearsal.py").write_text(HANDLERS)
    rehearsals = """
        rehearsals:
          - name: real
            input: 21
            handlers: {A: {real: true, takes: 5s}}
            expect: {output: 42, attributes: {status: much RUNNING}, took: 5s}
        """
    (played,) = perform(tmp_path, flow("real_handlers_of_a_rehearsal"), rehearsals)
    assert played.differences == []
    assert [run.run.flow_id for run in played.runs] == ["real", "other"]


OF_A_CLIENT = """
from orchestrator import Context, skip


def wait(ctx: Context, number: int):
    return skip()


async def work(ctx: Context, number: int) -> int:
    await ctx.client.aio.set_attributes(ctx.flow_id, {"status": "seen", "progress": {"a": "x"}})
    assert ctx.client.attributes(ctx.flow_id) == {"status": "seen", "progress": {"a": "x"}}
    ctx.client.publish(ctx.flow_id, "mail", "by number", 7)
    try:
        ctx.client.search("status == 'RUNNING'")
    except AttributeError as error:
        assert "the client of a handler has no `search`; it has: aio, start, publish" in str(error)
        return number * 2
    raise AssertionError


async def answer(question: str) -> str:
    return "much"
"""


def test_real_handlers_are_told_what_their_client_has(tmp_path: Path) -> None:
    (tmp_path / "handlers_with_a_client.py").write_text(OF_A_CLIENT)
    rehearsals = """
        rehearsals:
          - name: real
            input: 21
            handlers: {A: {real: true}}
            expect: {output: 42, attributes: {status: seen, progress: {a: x}}}
        """
    (played,) = perform(tmp_path, flow("handlers_with_a_client"), rehearsals)
    assert played.differences == []


def test_real_handlers_that_are_not_there_are_named(tmp_path: Path) -> None:
    found = differences_of(
        tmp_path, flow("handlers_that_are_not_there"), "rehearsals: [{name: real, input: 1}]"
    )
    assert found[0] == (
        "1:21 no handler is bound for the wait_for of A; there is no module `handlers_that_are_not_there` "
        "(looked for handlers_that_are_not_there.py; create it there)"
    )


PARENT = """
flow: Parent
input: integer
output: any
start: A
steps:
  A:
    input: integer
    wait_for:
      any_of:
        - {subflow: Child, input: "${input}", if_abandoned: cancel}
        - {timer: 1h, id: hour}
    graceful_complete: "${wait.Child}"
"""
CHILD = """
flow: Child
input: integer
output: integer
start: A
steps:
  A: {input: integer, wait_for: {until: {timer: "${input}"}}, graceful_complete: "${input * 2}"}
"""


@pytest.mark.rule(175)
@pytest.mark.rule(179)
def test_children_run_for_real_or_as_scripted(tmp_path: Path) -> None:
    (tmp_path / "child.flow.yaml").write_text(CHILD)
    rehearsals = """
        rehearsals:
          - name: real
            input: 60
            expect: {took: 1m}
          - name: abandoned
            input: 7200
            events: [{at: 90m, flow_id: "SubFlow:abandoned-A-1-0", stop: cancel, expect: {error: not_active}}]
            expect: {took: 1h}
          - name: scripted
            input: 60
            subflows: {Child: {output: 5, takes: 30m}}
            expect: {took: 30m}
        """
    real, abandoned, scripted = perform(tmp_path, PARENT, rehearsals)
    assert [each.differences for each in (real, abandoned, scripted)] == [[], [], []]
    assert [run.run.status for run in real.runs] == ["COMPLETED", "COMPLETED"]
    assert [run.run.status for run in abandoned.runs] == ["COMPLETED", "CANCELED"]
    assert scripted.simulated is not None and len(scripted.runs) == 1
    assert scripted.simulated.run.outputs[0].output["output"] == 5


def test_a_child_that_is_nowhere_fails_the_wait(tmp_path: Path) -> None:
    rehearsals = """
        rehearsals:
          - {name: alone, input: 1, expect: {error: {type: step_failed, message: no flow `Child`}}}
        """
    assert differences_of(tmp_path, PARENT, rehearsals) == []
