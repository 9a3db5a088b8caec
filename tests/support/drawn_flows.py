"""Flows that show what a diagram has to cope with."""

from __future__ import annotations

from orchestrator.definition.model import Flow
from orchestrator.definition.parse import parse

REVIEW = """
flow: ReviewFlow
description: Several reviewers read a paper; the editor decides.
types:
  Review:
    type: object
    required: [verdict]
    properties: {verdict: {type: string}, reason: {type: string, default: ""}}
input: list of string
channels:
  approval: {type: string, external: true}
  seller: {type: boolean, external: true, map: true}
  escalation: {type: string, capacity: 3}
attributes:
  status: string
  progress: {type: string, map: true}
  amount: number
joins:
  reviews: Review
start: Submit
timeout: {after: 1h}
steps:
  Submit:
    description: Register the paper.
    execute: {handler: register, may: {publish: [escalation], set: [status]}}
    set: {status: submitted}
    go_to_many:
      - {step: Review, for_each: "${input}", as: reviewer}
      - {step: Decide}
    join: reviews
    otherwise: {set: {status: nobody}, force_fail: no reviewer}
  Review:
    description: One reviewer reads the paper and writes what they think of it.
    input: string
    wait_for:
      any_combination_of: [[ok, ready], [late]]
      conditions:
        ok: {channel: seller, key: "${input}"}
        ready: {channel: approval, at_least: 1, at_most: 5}
        late: {timer: 14d}
    execute: {handler: review, retry: {maximum_attempts: 3}, locks: [status]}
    result: {name: result, type: Review}
    on_failure: Excuse
    report: {reviews: "${result}"}
    set: [{attribute: progress, key: "${input}", value: done}]
    dead_end: true
  Excuse:
    description: The reviewer cannot.
    input: string
    execute: excuse
    decide:
      - {when: attributes.amount > 100.0, cancel: [Review], publish: {escalation: x}, dead_end: true}
      - {choice: retry, go_to: Review}
      - {report: {reviews: {verdict: none}}, dead_end: true}
  Decide:
    description: The editor weighs the reviews.
    wait_for:
      any_of: [{join: reviews, need: active}, {subflow: EditorPool, id: pool}, {timer: 30d, id: deadline}]
    execute: decide
    decide:
      - {choice: accept, set: {status: accepted}, graceful_complete: "${wait.reviews.messages}"}
      - {choice: reject, when: size(wait.reviews.messages) > 1 || wait.deadline.fired, force_fail: rejected}
      - {choice: reject, when: wait.deadline.fired || attributes.amount > 1.0, dead_end: true}
      - {when: wait.deadline.fired, cancel_round: reviews, set: {status: late}, force_complete: late}
      - go_to: {step: Submit, input: "${[]}"}
        when: wait.pool.satisfied
      - {force_complete_if_channels_empty: {channels: [escalation], otherwise: {go_to: Decide}}}
rpcs:
  describe: {output: string or none, returns: "${attributes.status}"}
  approve:
    description: An editor approves early.
    input: string
    decide:
      - {when: attributes.status == 'submitted', set: {status: approved}, publish: {approval: "${input}"}}
      - {when: channels.approval.size > 0, go_to: {step: Excuse, input: early}}
      - {reject: nothing to approve}
on_timeout:
  description: Too late for this issue.
  set: {status: timed out}
  force_fail: processing deadline reached
"""

CJK = """
flow: Keiyaku
description: >-
  複数の審査員が順番に一つの契約書を編集する。
  审阅者轮流编辑一份合同。검토자가 차례로 계약서를 편집한다.
channels: {token: string}
start: Hajime
steps:
  Hajime:
    description: 各編集ごとに一つの経路を開始し、すべての報告を待つステップも開始する。この説明は長い。
    publish: {token: contract}
    go_to: Hairu
  Hairu:
    description: 等待合同编辑令牌进入该部分，然后继续编辑合同。
    wait_for: {until: {channel: token}}
    decide:
      - {when: wait.token.message == '완료되었습니다', dead_end: true}
      - {graceful_complete: 完了}
"""


def read(text: str) -> Flow:
    """The flow of a text that has no problems."""
    flow, problems = parse(text, "sample.flow.yaml")
    assert flow is not None, "\n".join(problem.concise() for problem in problems)
    return flow


def long_flow(count: int) -> str:
    """A chain of `count` steps that all publish, all fail into one, and every third of which may go back."""
    lines = ["flow: LongFlow", "channels: {done: integer}", "start: Step1", "steps:"]
    for number in range(1, count + 1):
        lines += [
            f"  Step{number}:",
            f"    description: Does part {number} of a long story, as told by its name.",
        ]
        lines += ["    execute: {handler: act}", "    on_failure: Repair", "    decide:"]
        if number % 3 == 0:
            lines.append(f"      - {{when: result == {number}, go_to: Step{number - 2}}}")
        ending = f"go_to: Step{number + 1}" if number < count else "graceful_complete:"
        lines += [f"      - publish: {{done: {number}}}", f"        {ending}"]
    lines += ["  Repair:", "    description: Puts things right.", "    dead_end: true"]
    return "\n".join(lines)
