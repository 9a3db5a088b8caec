"""One-line mistakes in the core, each breaking a rule, and the tests that must notice."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutation:
    file: str
    """Under orchestrator/core."""
    old: str
    """Occurs once in the file."""
    new: str
    rules: tuple[int, ...]
    tests: tuple[str, ...]
    """`file::name` under tests/unit/core; each must fail."""
    mistake: str


def _mutation(
    file: str, old: str, new: str, rules: tuple[int, ...], tests: tuple[str, ...], mistake: str
) -> Mutation:
    return Mutation(file, old, new, rules, tests, mistake)


MUTATIONS = (
    _mutation(
        "draft.py",
        "self.run.counters.get(step, 0)) + 1",
        "self.run.counters.get(step, 0)) + 2",
        (6,),
        ("test_decisions.py::test_a_loop_counts_its_executions",),
        "numbers of executions leave gaps",
    ),
    _mutation(
        "reuse.py",
        "_ABNORMAL = {Status.FAILED, Status.CANCELED, Status.TERMINATED}",
        "_ABNORMAL = {Status.FAILED}",
        (27,),
        ("test_reuse.py::test_the_policy_decides_over_an_earlier_run",),
        "only a failed run counts as an abnormal end",
    ),
    _mutation(
        "reuse.py",
        "    if is_repeated:\n        return Answer.REJECT",
        "    if is_repeated and policy is ReusePolicy.DISALLOW:\n        return Answer.REJECT",
        (34,),
        ("test_reuse.py::test_a_repeated_request_never_makes_a_second_run",),
        "a permissive policy makes a second run of a repeated request",
    ),
    _mutation(
        "transition.py",
        "        draft = Draft(flow, run, event.at)  # a failed attempt leaves no trace (rule 48)\n",
        "",
        (48, 101),
        ("test_channels_and_attributes.py::test_a_handlers_write_of_the_wrong_type_leaves_no_trace",),
        "a failed attempt keeps what it wrote before it failed",
    ),
    _mutation(
        "waits.py",
        '_KIND_ORDER = {"timer": 0, "channel": 1,',
        '_KIND_ORDER = {"timer": 1, "channel": 0,',
        (66,),
        ("test_waits.py::test_any_of_prefers_a_fired_timer_to_a_message",),
        "any_of tries channels before timers",
    ),
    _mutation(
        "waits.py",
        "left[key] = available - condition.minimum",
        "left[key] = available",
        (75,),
        (
            "test_wait_matching.py::test_two_exact_conditions_on_one_channel_need_the_sum",
            "test_wait_matching.py::test_take_all_never_eats_the_minimum_of_another",
        ),
        "minimums on one channel are not reserved",
    ),
    _mutation(
        "waits.py",
        "extra = min(left[key], room)",
        "extra = left[key]",
        (69, 73),
        (
            "test_waits.py::test_a_channel_condition_takes_what_its_form_says_oldest_first",
            "test_waits.py::test_at_most_is_a_limit_on_what_is_taken",
        ),
        "a condition takes more than its maximum",
    ),
    _mutation(
        "settling.py",
        "entry = (execution.wait.order,",
        "entry = (-execution.wait.order,",
        (19,),
        ("test_closing.py::test_of_two_waits_on_two_channels_the_older_one_ends_first",),
        "the newest wait is served first",
    ),
    _mutation(
        "steering.py",
        "for selector in draft.skips(execution.id):",
        "for selector in ():",
        (88,),
        ("test_deadlines_and_skips.py::test_a_skip_before_its_timer_exists_is_remembered",),
        "a skip that comes before its timer is forgotten",
    ),
    _mutation(
        "locks.py",
        "    if all(draft.lock_holder(lock) is None for lock in wanted):",
        "    if any(draft.lock_holder(lock) is None for lock in wanted):",
        (104,),
        ("test_locks.py::test_locks_are_taken_in_the_order_asked_and_released_when_the_call_ends",),
        "one free lock is enough to take all",
    ),
    _mutation(
        "draft.py",
        "        self.return_messages(execution)\n        if execution.phase is Phase.WAITING:",
        "        if execution.phase is Phase.WAITING:",
        (109,),
        (
            "test_cancelling.py::test_messages_of_a_cancelled_execution_return_to_the_front_in_order",
            "test_sections_and_cancels.py::test_messages_of_several_cancelled_together_take_back_their_order",
        ),
        "a cancelled execution takes its messages with it",
    ),
    _mutation(
        "transition.py",
        "draft.is_completing and draft.active_count == 0",
        "draft.is_completing",
        (121, 122),
        ("test_decisions.py::test_a_graceful_completion_waits_for_all_active_steps_and_is_never_withdrawn",),
        "graceful completion cuts other steps off",
    ),
    _mutation(
        "evolve.py",
        "    if run.status is not Status.COMPLETED:\n        run.outputs = []",
        "    if run.status is Status.TERMINATED:\n        run.outputs = []",
        (127,),
        ("test_decisions.py::test_a_failure_after_a_graceful_completion_loses_its_output",),
        "a failed run keeps its outputs",
    ),
    _mutation(
        "decisions.py",
        "siblings = draft.active_of_origin(execution.origin)",
        "siblings = draft.active()",
        (131,),
        ("test_cancelling.py::test_siblings_are_those_of_the_same_origin_only",),
        "siblings are all executions of the step",
    ),
    _mutation(
        "decisions.py",
        "    victims.pop(execution.id, None)\n",
        "",
        (133,),
        ("test_cancelling.py::test_a_decision_cancels_neither_itself_nor_what_it_starts",),
        "a decision that lists its own step cancels itself",
    ),
    _mutation(
        "rounds.py",
        "touched.missed += place.round not in still_counted",
        "touched.missed += 0",
        (143,),
        ("test_joins.py::test_all_never_holds_after_a_miss_and_active_does",),
        "a branch that leaves without reporting is not missed",
    ),
    _mutation(
        "retry.py",
        "attempt >= policy.maximum_attempts",
        "attempt > policy.maximum_attempts",
        (151, 155),
        (
            "test_failures.py::test_the_recovery_step_gets_the_same_input_and_learns_the_failure",
            "test_failures.py::test_progress_is_not_started_when_no_attempt_ever_ran",
        ),
        "the first attempt is not counted",
    ),
    _mutation(
        "retry.py",
        "** (attempt - 1)",
        "** attempt",
        (146,),
        ("test_failures.py::test_intervals_grow_by_the_coefficient_up_to_the_maximum",),
        "the first interval is already multiplied",
    ),
    _mutation(
        "transition.py",
        "execution.input if takes_input else None,\n        origin=execution.id,",
        "execution.input if takes_input else None,\n        origin=execution.origin,",
        (152,),
        ("test_failures.py::test_the_recovery_step_gets_the_same_input_and_learns_the_failure",),
        "a recovery step comes from where the failed one came from",
    ),
    _mutation(
        "progress.py",
        "    has_started = execution.has_started or failure.has_started\n",
        "    has_started = failure.has_started\n",
        (155,),
        ("test_failures.py::test_progress_is_not_completed_when_any_attempt_may_have_run",),
        "only the last attempt says whether the handler can have run",
    ),
    _mutation(
        "rpcs.py",
        "run.closed_at is not None and not is_read_only(rpc)",
        "run.closed_at is not None",
        (168,),
        ("test_rpcs.py::test_on_a_closed_run_only_rpcs_without_effects_work",),
        "no RPC works on a closed run",
    ),
    _mutation(
        "rpcs.py",
        "event.request_id in draft.run.answers",
        "event.request_id in ()",
        (170,),
        ("test_rpcs.py::test_a_request_id_makes_a_repeated_call_answer_without_effect",),
        "a repeated request id has a second effect",
    ),
    _mutation(
        "subflows.py",
        "Reuse.USE_RESULT if latest.status is Status.COMPLETED else Reuse.START",
        "Reuse.USE_RESULT",
        (177,),
        ("test_subflows.py::test_the_reuse_policy_decides_over_an_earlier_child",),
        "an abnormally ended child is not started again",
    ),
    _mutation(
        "draft.py",
        "return self._active_count - (self.execution(TIMEOUT_ID) is not None)",
        "return self._active_count",
        (185,),
        ("test_deadlines_and_skips.py::test_the_deadline_does_not_hold_up_graceful_completion",),
        "the deadline holds up completion",
    ),
    _mutation(
        "travel.py",
        "if recorded.version <= version:",
        "if recorded.version < version:",
        (192, 193),
        ("test_travel.py::test_execute_keeps_the_wait_result_and_numbers_resume_from_the_point",),
        "time travel goes one commit too far",
    ),
)
