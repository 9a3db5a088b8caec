"""What handlers do through their context, read from their source and held against the definition."""

from __future__ import annotations

import pytest

from orchestrator.lint.fixing import apply_fixes
from tests.support.surveyed import FLOW, Workshop, codes, flow, handler, one


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("ctx.publish('token', 1)", "REF011", "publishes to `token`, which `may` of Pay does not allow"),
        ("ctx.publish(channel='token')", "REF011", "publishes to `token`"),
        ("ctx.attributes['total'] = 1", "REF011", "writes `total`, which `may` of Pay does not allow"),
        ("ctx.attributes['total'] += 1", "REF011", "writes `total`"),
        ("del ctx.attributes['total']", "REF011", "writes `total`"),
        ("x, ctx.attributes['total'] = 1, 2", "REF011", "writes `total`"),
        ("ctx.attributes['progress']['a'] = 1", "REF011", "writes an entry of `progress`"),
        ("ctx.attributes['progress'].clear()", "REF011", "writes an entry of `progress`"),
        ("ctx.cancel('End')", "REF011", "cancels `End`"),
        ("seen = ctx.attributes; seen['total'] = 1", "REF011", "writes `total`"),
        ("[ctx.publish('token', n) for n in (1, 2)]", "REF011", "publishes to `token`"),
        ("ctx.publish('tokn', 1)", "REF012", "publishes to `tokn`, but there is no channel of that name"),
        ("ctx.attributes['totl'] = 1", "REF012", "writes `totl`, but there is no attribute of that name"),
        ("ctx.cancel('Pya')", "REF012", "cancels `Pya`, but there is no step of that name"),
        ("return ctx.attributes['totl']", "REF012", "reads `totl`"),
        ("return ctx.attributes.get('totl', 0)", "REF012", "reads `totl`"),
        ("return 'totl' in ctx.attributes", "REF012", "reads `totl`"),
        ("return ctx.channels['tokn'].size", "REF012", "looks at `tokn`"),
        ("return ctx.wait.tokn.message", "REF012", "reads what came of `tokn`, but Pay waits for nothing"),
        ("return ctx.wait['tokn'].message", "REF012", "reads what came of `tokn`"),
        ("return ctx.wiat.token", "REF012", "asks the context for `wiat`, which it does not have"),
        (
            "ctx.attributes['names'].append('x')",
            "DAT011",
            "changes a copy of `names`, and the change is lost",
        ),
        ("ctx.attributes['names'][0] = 'x'", "DAT011", "changes a copy of `names`"),
        ("ctx.attributes['progress']['a']['b'] = 1", "DAT011", "changes a copy of `progress`"),
    ],
)
def test_a_deed_that_would_fail_or_be_lost_is_a_problem(
    workshop: Workshop, line: str, code: str, message: str
) -> None:
    found = one(workshop.check(handler(line), flow()))
    assert found.code == code
    assert message in found.message
    assert found.message.endswith("(surveyed_shop.py:2)")
    assert (found.span.line, found.span.column) == (9, 14)
    assert [(span.path, span.span.line) for span in found.spans] == [("surveyed_shop.py", 2)]


@pytest.mark.parametrize(
    "line",
    [
        "ctx.publish(ctx.flow_id, 1)",
        "ctx.attributes[ctx.flow_id] = 1",
        "ctx = object(); ctx.publish('tokn')",
        "names = ctx.attributes['names']; names.append('x')",
        "return (lambda ctx: ctx.invoke('tokn'))(3)",
        "ctx()",
        "print(*ctx, **ctx)",
        "return ctx.attributes['names'].pop()",
        "return len(ctx.attributes['names'])",
        "return ctx.wait.late.fired and ctx.wait['token'].messages",
        "return [name for name in ctx.attributes]",
        "ctx.local.whatever; ctx.logger.info('x'); ctx.client.publish('y', 'tokn')",
    ],
)
def test_what_is_allowed_or_known_only_at_run_time_is_none(workshop: Workshop, line: str) -> None:
    assert workshop.check(handler(line), flow()) == []


def test_what_may_allows_is_no_problem(workshop: Workshop) -> None:
    execute = "{handler: pay, may: {publish: [token], set: {total: 1}, cancel: [End]}}"
    lines = ["ctx.publish('token', 1)", "ctx.attributes['total'] = 1", "ctx.cancel('End')"]
    assert workshop.check(handler(*lines), flow(execute)) == []


def test_a_name_is_read_from_a_constant_of_the_module_or_an_enum(workshop: Workshop) -> None:
    text = """\
    import enum

    TOKEN = "tokn"

    class Name(enum.StrEnum):
        TOKEN = "tken"

    def pay(ctx):
        ctx.publish(TOKEN)
        ctx.publish(Name.TOKEN)
    """
    found = workshop.check(text, flow())
    assert [(p.code, p.message.split("`")[3]) for p in found] == [("REF012", "tken"), ("REF012", "tokn")]


def test_a_local_variable_is_not_taken_for_the_constant(workshop: Workshop) -> None:
    text = """\
    TOKEN = "tokn"

    def pay(ctx):
        for TOKEN in ("token",):
            ctx.publish(TOKEN)
    """
    assert workshop.check(text, flow()) == []


def test_the_context_is_followed_into_functions_of_the_same_package(workshop: Workshop) -> None:
    workshop.write(
        "surveyed_shop_tools.py", "def publish(c, name):\n    c.publish('tokn')\n    c.publish(name)\n"
    )
    text = """\
    def pay(call: "Context"):
        _first(1, context=call)

    def _first(number, context):
        _second(context)

    def _second(where):
        where.publish("tken")
        _first(2, where)
    """
    found = one(
        workshop.check(
            text.replace('"Context"', "Context").replace(
                "    def pay", "    from orchestrator import Context\n    def pay", 1
            ),
            flow(),
        )
    )
    assert found.message.startswith("`pay` publishes to `tken`")
    assert found.message.endswith("(surveyed_shop.py:9)")


@pytest.mark.parametrize("bound", ["service.pay", "Service.kept", "service", "part", "decorated"])
def test_methods_partials_objects_and_decorated_functions_are_read_too(
    workshop: Workshop, bound: str
) -> None:
    text = """\
    import functools

    def logged(function):
        @functools.wraps(function)
        def wrapper(*args):
            return function(*args)
        return wrapper

    class Service:
        def pay(self, ctx):
            ctx.publish("tokn")

        @staticmethod
        def kept(ctx):
            ctx.publish("tokn")

        def __call__(self, ctx):
            ctx.publish("tokn")

    def _scaled(factor, ctx):
        ctx.publish("tokn")

    service = Service()
    part = functools.partial(_scaled, 3)

    @logged
    async def decorated(ctx):
        ctx.publish("tokn")
    """
    found = [p for p in workshop.check(text, flow(bound)) if p.code != "REF010"]
    assert one(found).message.startswith(f"`{bound}` publishes to `tokn`")


def test_the_same_deed_twice_is_one_problem(workshop: Workshop) -> None:
    assert codes(workshop.check(handler("ctx.publish('tokn')", "ctx.publish('tokn', 2)"), flow())) == [
        "REF012"
    ]


TWO_STEPS = flow("{handler: pay, may: {publish: [token]}}").replace(
    "    graceful_complete", "    execute: pay\n    graceful_complete"
)
PUBLISHING = "ctx.publish('token', 1)"


@pytest.mark.parametrize(
    "lines",
    [
        ("if ctx.step == 'Pay':", f"    {PUBLISHING}"),
        ("if ctx.step == 'End':", "    return", PUBLISHING),
        ("for _ in range(ctx.attempt):", f"    {PUBLISHING}"),
        (f"ctx.step == 'Pay' and {PUBLISHING}",),
        ("try:", f"    {PUBLISHING}", "except Exception:", "    pass"),
    ],
)
def test_a_function_of_two_steps_may_do_what_one_of_them_may(
    workshop: Workshop, lines: tuple[str, ...]
) -> None:
    assert workshop.check(handler(*lines), TWO_STEPS) == []
    workshop.forget_modules()
    neither = TWO_STEPS.replace("{handler: pay, may: {publish: [token]}}", "pay")
    assert codes(workshop.check(handler(*lines), neither)) == ["REF011", "REF011"]


def test_what_a_function_always_does_every_step_must_allow(workshop: Workshop) -> None:
    found = one(workshop.check(handler(PUBLISHING), TWO_STEPS))
    assert "which `may` of End does not allow" in found.message


def test_a_function_without_readable_source_is_left_alone(workshop: Workshop) -> None:
    text = "exec('def pay(ctx):\\n    ctx.publish(\"tokn\")')\n"
    assert workshop.check(text, flow()) == []


def test_an_effect_that_may_allows_and_nobody_has_is_told(workshop: Workshop) -> None:
    execute = "{handler: pay, may: {publish: [lane, token], set: {total: 1}}}"
    found = workshop.check(handler("ctx.publish('token', 1)"), flow(execute))
    assert [(p.code, p.severity, p.span.column) for p in found] == [
        ("REF017", "info", execute.index("lane") + 14),
        ("REF017", "error", execute.index("1}") + 14),
    ]
    assert found[0].message.startswith("`may` allows `pay` to publish `lane`, which it never does")
    assert found[1].message.startswith("`may` demands of `pay` to set `total`, which it never does")


@pytest.mark.parametrize("line", ["print(ctx)", "ctx.publish(ctx.flow_id)", "p = ctx.publish", "a = [ctx]"])
def test_nothing_is_said_to_be_left_undone_where_not_all_is_read(workshop: Workshop, line: str) -> None:
    execute = "{handler: pay, may: {publish: {token: 1}}}"
    assert workshop.check(handler(line), flow(execute)) == []


PUBLISH = "ctx.publish('token', 1)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("pay", "{handler: pay, may: {publish: [token]}}"),
        ("{handler: pay, timeout: 1h}", "{handler: pay, may: {publish: [token]}, timeout: 1h}"),
        ("{handler: pay, may: {set: [total]}}", "{handler: pay, may: {set: [total], publish: [token]}}"),
        ("{handler: pay, may: {publish: [lane]}}", "{handler: pay, may: {publish: [lane, token]}}"),
        (
            "{handler: pay, may: {publish: {lane: 1}}}",
            "{handler: pay, may: {publish: {lane: 1, token: {min: 0}}}}",
        ),
        (
            "\n      handler: pay  # who pays\n      timeout: 1h",
            "\n      handler: pay  # who pays\n      may: {publish: [token]}\n      timeout: 1h",
        ),
        (
            "\n      may:\n        publish:\n          - lane  # one\n      handler: pay",
            "\n      may:\n        publish:\n          - lane  # one\n          - token\n      handler: pay",
        ),
        (
            "\n      handler: pay\n      may:\n        publish:\n          lane: 1  # one",
            "\n      handler: pay\n      may:\n        publish:\n          lane: 1  # one\n"
            "          token: {min: 0}",
        ),
    ],
)  # fmt: skip
def test_the_fix_declares_it_in_the_style_that_is_there(workshop: Workshop, before: str, after: str) -> None:
    lines = ["ctx.publish('token', 1)", "ctx.publish('lane', 1, key=1)", "ctx.attributes['total'] = 1"]
    lines = [line for line in lines if line.split("'")[1] in after]
    found = one(workshop.check(handler(*lines), flow(before)))
    assert found.fix is not None
    assert not found.fix.is_safe
    assert found.fix.message == "declare that `pay` may publish `token`"
    mended = apply_fixes(flow(before), [found.fix])
    assert mended == flow(after)
    assert workshop.check(handler(*lines), mended) == []


def test_rpcs_and_wait_for_handlers_have_their_own_may(workshop: Workshop) -> None:
    text = """\
    flow: Shop
    handlers: surveyed_shop
    channels: {token: integer}
    start: Wait
    steps:
      Wait:
        wait_for:
          handler: listen
          conditions: {late: {timer: 1h}}
        graceful_complete: done
    rpcs:
      ask: {handler: answer}
    """
    handlers = """\
    from orchestrator import until

    def listen(ctx):
        ctx.publish("token", 1)
        return until("late")

    def answer(ctx):
        ctx.publish("token", 1)
    """
    found = workshop.check(handlers, text)
    assert [(p.code, p.message.partition(" (")[0]) for p in found] == [
        ("REF011", "`listen` publishes to `token`, which `may` of Wait"),
        ("REF011", "`answer` publishes to `token`, which `may` of ask does not allow"),
    ]
    mended = apply_fixes((workshop.directory / FLOW).read_text(), [p.fix for p in found if p.fix is not None])
    assert workshop.check(handlers, mended) == []
