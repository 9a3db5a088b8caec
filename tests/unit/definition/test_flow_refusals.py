"""What the language refuses, each with its code at its exact place, and nothing else with it."""

from __future__ import annotations

import textwrap

import pytest

from tests.support.marked import assert_problems, problems_of

HEAD = """
flow: F
types: {Order: {type: object, required: [total], properties: {total: {type: integer}}}}
attributes: {n: integer, status: string, progress: {type: string, map: true}}
channels: {c: string, orders: Order, cm: {type: integer, map: true}}
joins: {j: integer}
start: Start
"""
REST = """
  Other: {dead_end: true}
  Taker: {input: integer, dead_end: true}
"""


def flow_with_step(body: str) -> str:
    """A flow whose start step has this body (lines of a mapping)."""
    return HEAD.lstrip("\n") + "steps:\n  Start:\n" + textwrap.indent(body.strip("\n"), "    ") + REST


TOP_LEVEL = [
    ("⟦steps: {}⟧", ["SCH002"]),
    ("flow: ⟦my-flow⟧", ["NAM006"]),
    ("flow: ⟦1⟧", ["SCH003"]),
    ("flow: ⟦while⟧", ["NAM001"]),
    ("flow: F\n⟦step⟧: {}", ["SCH001"]),
    ("flow: F\nlanguage: ⟦2⟧", ["SCH007"]),
    ("flow: F\nlanguage: ⟦true⟧", ["SCH007"]),
    ("flow: F\ndescription: ⟦1⟧", ["SCH003"]),
    ("flow: F\nhandlers: ⟦a/b⟧", ["SCH012"]),
    ("flow: F\nhandlers: [a, ⟦1⟧]", ["SCH003"]),
    ("flow: F\nstart: ⟦A⟧", ["REF001"]),
    ("flow: F\nsteps: ⟦[]⟧", ["SCH003"]),
    ("flow: F\nsteps: {⟦a-b⟧: {dead_end: true}}", ["NAM006"]),
    ("flow: F\nsteps: {⟦return⟧: {dead_end: true}}", ["NAM001"]),
    ("flow: F\nsteps: {⟦on_timeout⟧: {dead_end: true}}\non_timeout: {dead_end: true}", ["NAM001"]),
    ("flow: F\nsteps: {A: ⟦⟧}", ["SCH003"]),
    ("flow: F\ninput: ⟦strin⟧", ["TYP001"]),
    ("flow: F\noutput: ⟦[string]⟧", ["TYP001"]),
    ("flow: F\ntypes: {⟦string⟧: {type: string}}", ["NAM001"]),
    ("flow: F\ntypes: {A: ⟦list of string⟧}", ["TYP001"]),
    ("flow: F\ntypes: {A: {type: ⟦strin⟧}}\ninput: A", ["TYP001"]),
    ("flow: F\nattributes: {a: {⟦typ⟧: string}}", ["SCH001"]),
    ("flow: F\nattributes: {a: ⟦{map: true}⟧}", ["SCH002"]),
    ("flow: F\nattributes: {a: {type: string, ⟦format⟧: date-time}}", ["SCH001"]),
    ("flow: F\nattributes: {a: {type: string, map: ⟦yes⟧}}", ["SCH003"]),
    ("flow: F\nattributes: {a: {type: integer, initial: ⟦x⟧}}", ["TYP002"]),
    ("flow: F\nattributes: {a: {type: string, initial: ⟦'${now}'⟧}}", ["SCH012"]),
    ("flow: F\nattributes: {a: {type: integer, map: true, initial: {x: 1, y: ⟦z⟧}}}", ["TYP002"]),
    ("flow: F\nattributes: {a: {type: integer, map: true, initial: ⟦1⟧}}", ["SCH003"]),
    ("flow: F\nattributes: {a: {type: string, index: ⟦keywords⟧}}", ["SCH009"]),
    ("flow: F\nattributes: {a: {type: string, map: true, index: ⟦keyword⟧}}", ["SCH002"]),
    ("flow: F\nattributes: {a: {type: string, index: ⟦{key: K}⟧}}", ["SCH002"]),
    ("flow: F\nchannels: {c: {type: string, delivery: ⟦last⟧}}", ["SCH009"]),
    ("flow: F\nchannels: {c: {type: string, capacity: ⟦0⟧}}", ["SCH010"]),
    ("flow: F\nchannels: {c: {type: string, capacity: ⟦many⟧}}", ["SCH003"]),
    ("flow: F\nchannels: {⟦c.d⟧: string}", ["NAM006"]),
    ("flow: F\njoins: {j: {type: string, ⟦map⟧: true}}", ["SCH001"]),
    ("flow: F\nconfig: {durability: ⟦fast⟧}", ["SCH009"]),
    ("flow: F\ntimeout: ⟦1 hour⟧", ["SCH004"]),
    ("flow: F\ntimeout: ⟦-5⟧", ["SCH004"]),
    ("flow: F\ntimeout: ⟦3000000d⟧", ["SCH004"]),
    ("flow: F\ntimeout: {after: 0, ⟦policy⟧: fail}", ["SCH008"]),
    ("flow: F\nrpcs: {r: {let: {a: ⟦9223372036854775808⟧}, returns: 1}}", ["TYP002"]),
    ("flow: F\nrpcs: {r: {returns: {a: ['${1}', ⟦-9223372036854775809⟧]}}}", ["TYP002"]),
    ("flow: F\ntimeout: ⟦{policy: fail}⟧", ["SCH002"]),
    ("flow: F\ntimeout: {after: 1h, policy: ⟦handler⟧}", ["SCH002"]),
    ("flow: F\ntimeout: {after: 1h, policy: fail}\n⟦on_timeout⟧: {dead_end: true}", ["SCH008"]),
    ("flow: F\non_timeout: {⟦wait_for⟧: {until: {timer: 1s}}, dead_end: true}", ["SCH008"]),
    ("flow: F\non_timeout: {⟦input⟧: string, dead_end: true}", ["SCH008"]),
    ("flow: F\non_timeout: {force_fail: '${⟦input⟧}'}", ["EXP001"]),
    ("flow: F\nverify: {properties: [{conserved: ⟦c⟧}]}", ["REF002"]),
    ("flow: F\nverify: {properties: [{⟦nevr⟧: {}}]}", ["SCH001"]),
    ("flow: F\nverify: {fan_out: [⟦-1⟧]}", ["SCH010"]),
    ("⟦[]⟧", ["SCH003"]),
    ("⟦just text⟧", ["SCH003"]),
]


@pytest.mark.parametrize(("marked", "codes"), TOP_LEVEL)
def test_top_level_refusals(marked: str, codes: list[str]) -> None:
    assert_problems(marked + "\n", *codes)


STEPS = [
    ("⟦go_too⟧: Other", ["SCH001"]),
    ("go_to: ⟦Othr⟧", ["REF001"]),
    ("go_to: ⟦c⟧", ["REF001"]),
    ("go_to: {step: ⟦Start2⟧}", ["REF001"]),
    ("go_to: ⟦{input: 1}⟧", ["SCH002"]),
    ("go_to: {step: Other, ⟦input⟧: 1}", ["TYP005"]),
    ("go_to: {step: Other, ⟦input⟧: null}", ["TYP005"]),
    ("go_to: ⟦Taker⟧", ["TYP004"]),
    ("go_to: {step: Taker, input: ⟦x⟧}", ["TYP002"]),
    ("go_to: {step: Taker, input: ⟦'${attributes.status}'⟧}", ["TYP003"]),
    ("input: string\ngo_to: ⟦Taker⟧", ["TYP003"]),
    ("go_to: Other\n⟦dead_end⟧: true", ["DEC002"]),
    ("go_to: Other\n⟦otherwise⟧: {dead_end: true}", ["SCH008"]),
    ("go_to: Other\n⟦join⟧: j", ["SCH008"]),
    ("go_to_many: ⟦[]⟧", ["SCH013"]),
    ("go_to_many: ⟦Other⟧", ["SCH003"]),
    ("go_to_many: [Other, {step: ⟦j⟧}]", ["REF001"]),
    ("go_to_many: [{step: Other, ⟦branch⟧: false}]", ["SCH008"]),
    ("go_to_many: [{step: Other, ⟦as⟧: x}]", ["SCH008"]),
    ("go_to_many: [{step: Other, for_each: [1], as: ⟦input⟧}]", ["NAM001"]),
    ("go_to_many: [{step: Other, for_each: [1], as: ⟦result⟧}]", ["NAM001"]),
    ("go_to_many: [{step: Other, for_each: ⟦'${attributes.n}'⟧}]", ["TYP003"]),
    ("go_to_many: [{step: ⟦Taker⟧, for_each: [a, b]}]", ["TYP003"]),
    ("go_to_many: [Other]\njoin: ⟦c⟧", ["REF020"]),
    ("let: {item: 1}\ngo_to_many: [{step: Other, ⟦for_each⟧: [1]}]", ["NAM001"]),
    ("let: {a: 1}\ngo_to_many: [{step: Other, for_each: [1], as: ⟦a⟧}]", ["NAM001"]),
    ("go_to_many: [Other]\notherwise: {⟦when⟧: true, dead_end: true}", ["SCH008"]),
    ("go_to_many: [Other]\n⟦otherwise⟧: {}", ["DEC001"]),
    ("dead_end: ⟦false⟧", ["SCH003"]),
    ("dead_end:⟦⟧", ["SCH003"]),
    ("force_fail: ⟦1⟧", ["TYP002"]),
    ("graceful_complete: ⟦9223372036854775808⟧", ["TYP002"]),
    ("wait_for: {local: {a: [⟦9223372036854775808⟧]}}\ndead_end: true", ["TYP002"]),
    ("let: {a: {b: ⟦9223372036854775808⟧, c: '${1}'}}\ndead_end: true", ["TYP002"]),
    ("wait_for: {until: {timer: ⟦3000000d⟧}}\ndead_end: true", ["SCH004"]),
    ("force_fail: ⟦'${attributes.n}'⟧", ["TYP003"]),
    ("force_complete_if_channels_empty: {channels: ⟦[]⟧, otherwise: {dead_end: true}}", ["SCH013"]),
    ("force_complete_if_channels_empty: ⟦{channels: [c]}⟧", ["SCH002"]),
    ("force_complete_if_channels_empty: ⟦{otherwise: {dead_end: true}}⟧", ["SCH002"]),
    ("force_complete_if_channels_empty: {channels: [c, ⟦c⟧], otherwise: {dead_end: true}}", ["SCH014"]),
    ("force_complete_if_channels_empty: {channels: [⟦n⟧], otherwise: {dead_end: true}}", ["REF002"]),
    ("decide: ⟦[]⟧", ["SCH013"]),
    ("decide: [{go_to: Other}, ⟦{when: true}⟧]", ["DEC001"]),
    ("decide: [{go_to: Other}]\n⟦dead_end⟧: true", ["SCH005"]),
    ("decide: [{go_to: Other}]\n⟦when⟧: true", ["SCH005"]),
    ("decide: [{when: ⟦'${true}'⟧, go_to: Other}]", ["EXP002"]),
    ("decide: [{when: ⟦attributes.n⟧, go_to: Other}]", ["EXP001"]),
    ("decide: [{when: ⟦1⟧, go_to: Other}]", ["SCH003"]),
    ("decide: [{⟦choice⟧: a, go_to: Other}]", ["SCH008"]),
    ("execute: f\ndecide: [{choice: ⟦a-b⟧, go_to: Other}]", ["NAM006"]),
    ("report: {j: 1}\ndecide: [{report: {⟦j⟧: 2}, dead_end: true}]", ["DEC003"]),
    ("report: {⟦c⟧: 1}\ndead_end: true", ["REF020"]),
    ("report: {j: ⟦x⟧}\ndead_end: true", ["TYP002"]),
    ("cancel: ⟦Other⟧\ndead_end: true", ["SCH003"]),
    ("cancel: [⟦Othr⟧]\ndead_end: true", ["REF001"]),
    ("cancel_siblings: [⟦c⟧]\ndead_end: true", ["REF001"]),
    ("cancel_round: ⟦c⟧\ndead_end: true", ["REF020"]),
    ("set: {⟦m⟧: 1}\ndead_end: true", ["REF003"]),
    ("set: {n: ⟦x⟧}\ndead_end: true", ["TYP002"]),
    ("set: {n: ⟦'${attributes.status}'⟧}\ndead_end: true", ["TYP003"]),
    ("set: {progress: ⟦done⟧}\ndead_end: true", ["SCH003"]),
    ("set: {progress: {a: ⟦1⟧}}\ndead_end: true", ["TYP002"]),
    ("set: {progress: {⟦'${run.attempt == 1}'⟧: x}}\ndead_end: true", ["TYP003"]),
    ("set: [{attribute: n, ⟦key⟧: a, value: 1}]\ndead_end: true", ["SCH008"]),
    ("set: [⟦{attribute: n}⟧]\ndead_end: true", ["SCH002"]),
    ("set: [⟦{value: 1}⟧]\ndead_end: true", ["SCH002"]),
    ("set: [{attribute: progress, value: ⟦1⟧}]\ndead_end: true", ["SCH003"]),
    ("publish: {⟦n⟧: 1}\ndead_end: true", ["REF002"]),
    ("publish: {c: ⟦1⟧}\ndead_end: true", ["TYP002"]),
    ("publish: {orders: {total: ⟦'${attributes.status}'⟧}}\ndead_end: true", ["TYP003"]),
    ("publish: {orders: ⟦{}⟧}\ndead_end: true", ["TYP002"]),
    ("publish: {cm: ⟦1⟧}\ndead_end: true", ["SCH003"]),
    ("publish: [⟦{channel: cm, value: 1}⟧]\ndead_end: true", ["SCH002"]),
    ("publish: [{channel: c, ⟦key⟧: a, value: x}]\ndead_end: true", ["SCH008"]),
    ("publish: [{channel: c, value: x, ⟦to⟧: y}]\ndead_end: true", ["SCH001"]),
    ("execute: ⟦a-b⟧\ndead_end: true", ["SCH012"]),
    ("execute: ⟦{timeout: 1s}⟧\ndead_end: true", ["SCH002"]),
    ("execute: {handler: f, timeout: ⟦soon⟧}\ndead_end: true", ["SCH004"]),
    ("execute: {handler: f, timeout: ⟦0s⟧}\ndead_end: true", ["SCH004"]),
    ("execute: {handler: f, retry: {⟦max_attempts⟧: 1}}\ndead_end: true", ["SCH001"]),
    ("execute: {handler: f, retry: {maximum_attempts: ⟦-1⟧}}\ndead_end: true", ["SCH010"]),
    ("execute: {handler: f, retry: {backoff_coefficient: ⟦0.5⟧}}\ndead_end: true", ["SCH010"]),
    ("execute: {handler: f, retry: {non_retryable: [⟦a b⟧]}}\ndead_end: true", ["SCH012"]),
    ("execute: {handler: f, may: {publish: [⟦d⟧]}}\ndead_end: true", ["REF002"]),
    ("execute: {handler: f, may: {set: {⟦c⟧: 1}}}\ndead_end: true", ["REF003"]),
    ("execute: {handler: f, may: {cancel: {Other: {min: 2, max: ⟦1⟧}}}}\ndead_end: true", ["SCH010"]),
    ("execute: {handler: f, locks: [⟦c⟧]}\ndead_end: true", ["REF003"]),
    ("execute: {handler: f, locks: [{⟦n⟧: a}]}\ndead_end: true", ["SCH008"]),
    ("execute: {handler: f, loads: [{channel: ⟦n⟧}]}\ndead_end: true", ["REF002"]),
    ("execute: {handler: f, durability: ⟦both⟧}\ndead_end: true", ["SCH009"]),
    ("result: ⟦wait⟧\ndead_end: true", ["NAM001"]),
    ("result: ⟦reports⟧\ndead_end: true", ["NAM001"]),
    ("result: {⟦nam⟧: x}\ndead_end: true", ["SCH001"]),
    ("result: {name: x, type: ⟦strin⟧}\ndead_end: true", ["TYP001"]),
    ("let: {⟦result⟧: 1}\ndead_end: true", ["NAM001"]),
    ("let: {⟦in⟧: 1}\ndead_end: true", ["NAM001"]),
    ("result: x\nlet: {⟦x⟧: 1}\ndead_end: true", ["NAM001"]),
    ("let: {a: '${⟦b⟧}', b: 1}\ndead_end: true", ["EXP001"]),
    ("on_failure: ⟦Taker⟧\ndead_end: true", ["TYP004"]),
    ("input: string\non_failure: ⟦Taker⟧\ndead_end: true", ["TYP003"]),
    ("on_failure: {step: Other, options: {execute: {⟦may⟧: {}}}}\ndead_end: true", ["SCH001"]),
    ("go_to: {step: Other, options: {wait_for: {on_failure: ⟦stop⟧}}}", ["SCH009"]),
    ("go_to: {step: Other, options: {on_failure: ⟦Taker⟧}}", ["TYP004"]),
]


@pytest.mark.parametrize(("body", "codes"), STEPS)
def test_step_refusals(body: str, codes: list[str]) -> None:
    assert_problems(flow_with_step(body), *codes)


WAITS = [
    ("{⟦untl⟧: {channel: c}}", ["SCH001"]),
    ("{until: {channel: c}, ⟦any_of⟧: [{channel: c}]}", ["SCH005"]),
    ("{handler: f, ⟦until⟧: {channel: c}}", ["SCH005"]),
    ("{until: ⟦[{channel: c}]⟧}", ["SCH003"]),
    ("{until: ⟦c⟧}", ["SCH003"]),
    ("{any_of: ⟦[]⟧}", ["SCH013"]),
    ("{any_of: [⟦{}⟧]}", ["SCH002"]),
    ("{any_of: [{channel: c, ⟦timer⟧: 1s}]}", ["SCH005"]),
    ("{any_of: [{⟦chanel⟧: c}]}", ["SCH001"]),
    ("{any_of: [{channel: c, ⟦fr⟧: 1}]}", ["SCH001"]),
    ("{any_of: [{channel: c, id: a}, {timer: 1s, id: ⟦a⟧}]}", ["NAM005"]),
    ("{any_of: [{channel: c, id: ⟦a-b⟧}]}", ["NAM006"]),
    ("{until: {channel: ⟦n⟧}}", ["REF002"]),
    ("{until: ⟦{channel: cm}⟧}", ["SCH002"]),
    ("{until: {channel: c, ⟦key⟧: a}}", ["SCH008"]),
    ("{until: {channel: cm, key: ⟦1.5⟧}}", ["TYP002"]),
    ("{until: {channel: c, for: 1, ⟦at_least⟧: 1}}", ["SCH005"]),
    ("{until: {channel: c, for: ⟦-1⟧}}", ["SCH010"]),
    ("{until: {channel: c, for: ⟦one⟧}}", ["SCH003"]),
    ("{until: {channel: c, for: ⟦'${attributes.status}'⟧}}", ["TYP003"]),
    ("{until: {channel: c, at_least: 3, at_most: ⟦2⟧}}", ["SCH010"]),
    ("{until: {timer: ⟦soon⟧}}", ["SCH004"]),
    ("{until: {timer: ⟦-1⟧}}", ["SCH004"]),
    ("{until: {timer_at: ⟦noon⟧}}", ["SCH011"]),
    ("{until: {timer: ⟦'${attributes.n > 1}'⟧}}", ["TYP003"]),
    ("{until: {timer: ⟦'${now}'⟧}}", ["TYP003"]),
    ("{until: {timer: ⟦'${null}'⟧}}", ["TYP003"]),
    ("{until: {timer: ⟦['${attributes.n}']⟧}}", ["TYP003"]),
    ("{until: {timer: ⟦{n: '${attributes.n}'}⟧}}", ["TYP003"]),
    ("{until: {timer_at: ⟦'${now - run.started_at}'⟧}}", ["TYP003"]),
    ("{until: {timer_at: ⟦'${[now]}'⟧}}", ["TYP003"]),
    ("{until: {subflow: X, timeout: ⟦'${now}'⟧}}", ["TYP003"]),
    ("{until: {timer: '${⟦imput⟧}'}}", ["EXP001"]),
    ("{until: {timer: '${⟦wait⟧.c.satisfied}'}}", ["EXP001"]),
    ("{until: {subflow: ⟦My-Flow⟧}}", ["NAM006"]),
    ("{until: {subflow: X, flow_id: ⟦a/b⟧}}", ["SCH012"]),
    ("{until: {subflow: X, reuse: ⟦never⟧}}", ["SCH009"]),
    ("{until: {subflow: X, if_abandoned: ⟦kill⟧}}", ["SCH009"]),
    ("{until: {subflow: X, timeout: ⟦x⟧}}", ["SCH004"]),
    ("{until: {join: ⟦c⟧}}", ["REF020"]),
    ("{until: {join: j, need: ⟦most⟧}}", ["SCH009"]),
    ("{any_combination_of: [[a, ⟦b⟧]], conditions: {a: {channel: c}}}", ["REF021"]),
    ("{any_combination_of: [[a, ⟦a⟧]], conditions: {a: {channel: c}}}", ["SCH014"]),
    ("{any_combination_of: [⟦[]⟧], conditions: {a: {channel: c}}}", ["SCH013"]),
    ("{any_combination_of: [[a]], conditions: {a: {channel: c, ⟦id⟧: x}}}", ["SCH008"]),
    ("{until: {channel: c}, ⟦conditions⟧: {a: {channel: c}}}", ["SCH008"]),
    ("{until: {channel: c}, ⟦timeout⟧: 1s}", ["SCH008"]),
    ("{until: {channel: c}, ⟦retry⟧: {}}", ["SCH008"]),
    ("{until: {channel: c}, ⟦may⟧: {}}", ["SCH008"]),
    ("{until: {channel: c}, ⟦locks⟧: [n]}", ["SCH008"]),
    ("{until: {channel: c}, ⟦loads⟧: [n]}", ["SCH008"]),
    ("{until: {channel: c}, ⟦report⟧: {j: 1}}", ["SCH001"]),
    ("{until: {channel: c}, on_failure: ⟦Other⟧}", ["SCH009"]),
    ("{local: {⟦a-b⟧: 1}}", ["NAM006"]),
    ("{any_of: [{channel: c, ⟦as⟧: x}]}", ["SCH008"]),
    ("{any_of: [{channel: c, when: ⟦attributes.n⟧}]}", ["EXP001"]),
    ("{set: {n: ⟦x⟧}}", ["TYP002"]),
]


@pytest.mark.parametrize(("wait", "codes"), WAITS)
def test_wait_refusals(wait: str, codes: list[str]) -> None:
    assert_problems(flow_with_step(f"wait_for: {wait}\ndead_end: true"), *codes)


RPCS = [
    ("{⟦graceful_complete⟧: 1}", ["DEC004"]),
    ("{⟦dead_end⟧: true}", ["DEC004"]),
    ("{⟦report⟧: {j: 1}}", ["DEC004"]),
    ("{⟦cancel_siblings⟧: [Other]}", ["DEC004"]),
    ("{⟦cancel_round⟧: j}", ["DEC004"]),
    ("{go_to_many: [Other], ⟦join⟧: j}", ["DEC004"]),
    ("{decide: [{⟦force_fail⟧: x}]}", ["DEC004"]),
    ("{go_to: Other, ⟦go_to_many⟧: [Other]}", ["DEC002"]),
    ("{go_to: ⟦Taker⟧}", ["TYP004"]),
    ("{input: integer, go_to: ⟦Taker⟧}", ["TYP004"]),
    ("{reject: no, ⟦set⟧: {n: 1}}", ["SCH005"]),
    ("{reject: no, ⟦returns⟧: 1}", ["SCH005"]),
    ("{reject: ⟦1⟧}", ["TYP002"]),
    ("{⟦timeout⟧: 1s, returns: 1}", ["SCH008"]),
    ("{handler: f, timeout: ⟦61s⟧}", ["SCH004"]),
    ("{⟦loads⟧: [n], returns: 1}", ["SCH008"]),
    ("{⟦wait_for⟧: {}, returns: 1}", ["SCH001"]),
    ("{⟦on_failure⟧: Other, returns: 1}", ["SCH001"]),
    ("{⟦choice⟧: a, returns: 1}", ["SCH008"]),
    ("{output: integer, returns: ⟦x⟧}", ["TYP002"]),
    ("{output: integer, decide: [⟦{set: {n: 1}}⟧]}", ["TYP006"]),
    ("{input: integer, returns: '${⟦wait⟧}'}", ["EXP001"]),
    ("{decide: [{returns: 1}], ⟦returns⟧: 1}", ["SCH005"]),
]


@pytest.mark.parametrize(("rpc", "codes"), RPCS)
def test_rpc_refusals(rpc: str, codes: list[str]) -> None:
    assert_problems(flow_with_step("dead_end: true") + f"rpcs:\n  r: {rpc}\n", *codes)


def test_missing_outcome_is_reported_at_the_step() -> None:
    assert_problems("flow: F\nsteps:\n  ⟦A⟧: {publish: {}}\n", "DEC001")


def test_completion_without_the_output_owed_is_refused() -> None:
    marked = "flow: F\noutput: integer\nsteps:\n  A:\n    ⟦graceful_complete⟧:\n"
    assert_problems(marked, "TYP006")
    assert problems_of("flow: F\noutput: integer or none\nsteps: {A: {force_complete: }}\n") == []
    assert problems_of("flow: F\nsteps: {A: {force_complete: }, B: {graceful_complete: [1]}}\n") == []


def test_output_of_the_wrong_type_is_refused_where_it_is_wrong() -> None:
    assert_problems(
        """
        flow: F
        output: list of integer
        steps:
          A:
            graceful_complete:
              - 1
              - ⟦two⟧
        """,
        "TYP002",
    )


def test_a_let_that_reads_the_wait_cannot_be_used_in_it() -> None:
    (problem,) = assert_problems(
        """
        flow: F
        channels: {c: integer}
        steps:
          A:
            let:
              base: 3
              taken: ${wait.c.message}
              double: ${taken + base}
            wait_for: {until: {channel: c, for: "${base + ⟦taken⟧}"}}
            graceful_complete: ${double}
        """,
        "EXP001",
    )
    assert "`taken`" in problem.message
    assert "wait_for" in problem.message


def test_the_name_of_another_kind_is_said_to_be_so() -> None:
    (problem,) = problems_of(flow_with_step("go_to: orders"))
    assert problem.message == "`orders` is a channel, not a step"


@pytest.mark.parametrize(
    ("body", "help"),
    [
        ("go_too: Other", "did you mean `go_to`?"),
        ("go_to: Othr", "did you mean `Other`?"),
        ("set: {stauts: x}\ndead_end: true", "did you mean `status`?"),
        ("wait_for: {until: {chanel: c}}\ndead_end: true", "did you mean `channel`?"),
        ("wait_for: {until: 30m}\ndead_end: true", "write {timer: 30m}"),
        ("wait_for: {until: c}\ndead_end: true", "write {channel: c}"),
    ],
)
def test_help_proposes_what_was_meant(body: str, help: str) -> None:
    (problem,) = problems_of(flow_with_step(body))
    assert problem.help == help


def test_all_problems_of_a_file_come_in_one_go_in_file_order() -> None:
    assert_problems(
        """
        flow: F
        ⟦inputs⟧: string
        channels: {c: ⟦sting⟧}
        start: ⟦A⟧
        steps:
          B:
            wait_for: {until: {timer: ⟦x⟧}}
            set: {⟦n⟧: 1}
            go_to: ⟦Cc⟧
          C:
            publish: {c: 1, ⟦d⟧: 2}
            ⟦ded_end⟧: true
        rpcs:
          r: {returns: "${⟦nothing⟧}", ⟦dead_end⟧: true}
        """,
        *["SCH001", "TYP001", "REF001", "SCH004", "REF003", "REF001", "REF002", "SCH001", "EXP001", "DEC004"],
    )


def test_a_broken_declaration_causes_no_follow_up_problems() -> None:
    assert_problems(
        """
        flow: F
        types: {T: {type: ⟦objekt⟧}}
        input: T
        attributes: {a: ⟦intt⟧}
        start: A
        steps:
          A:
            let: {x: "${⟦inptu⟧}"}
            set: {a: "${x + 1}"}
            go_to_many: [{for_each: "${⟦inptu⟧}", as: e, step: B, input: "${e + 1}"}]
          B: {input: ⟦Tt⟧, go_to: {step: B, input: 1}}
        """,
        *["TYP001", "TYP001", "EXP001", "EXP001", "TYP001"],
    )


def test_own_keys_are_allowed_in_every_mapping() -> None:
    text = """
        flow: F
        x-a: 1
        types: {x-a: 1, T: {type: string}}
        attributes: {x-a: 1, a: {type: string, x-b: 2}}
        channels: {x-a: 1, c: {type: T, x-b: 2}}
        config: {x-a: 1}
        start: A
        steps:
          x-a: anything
          A:
            x-a: 1
            wait_for: {x-a: 1, any_of: [{channel: c, x-b: 1}, {timer: 1s, x-c: 1}]}
            execute: {handler: f, x-a: 1, retry: {x-a: 1}, may: {x-a: 1, set: {x-a: 1, a: 1}}}
            result: {name: r, x-a: 1}
            set: {x-a: 1, a: b}
            publish: [{channel: c, value: v, x-a: 1}]
            decide: [{x-a: 1, go_to: {step: A, x-a: 1, options: {x-a: 1}}}]
        """
    assert problems_of(text) == []


def test_what_is_read_of_a_wait_with_problems_is_no_problem_too() -> None:
    assert_problems(
        """
        flow: F
        start: A
        steps:
          A:
            wait_for: {any_of: [{channel: ⟦nowhere⟧, id: order}, {timer: 1h}]}
            decide:
              - {when: wait.order.satisfied, graceful_complete: "${wait.order.message}"}
              - {graceful_complete: "${⟦wrong⟧}"}
        """,
        "REF002",
        "EXP001",
    )


@pytest.mark.parametrize(
    ("written", "advice"),
    [
        ("number", "{type: number}"),
        ("list of string", "{type: array, items: …}"),
        ("string or none", "{anyOf: [A, B]}"),
        ("B", "{$ref: '#/types/Name'}"),
    ],
)
def test_a_named_type_that_is_a_word_is_told_as_a_schema(written: str, advice: str) -> None:
    problems = problems_of(f"flow: F\ntypes: {{A: {written}, B: {{type: string}}}}\n")
    assert [advice in problem.help for problem in problems if problem.code == "TYP001"] == [True]
