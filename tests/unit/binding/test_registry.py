"""Finding handlers by name, and what is said when one cannot be bound."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.binding.check import locate
from orchestrator.binding.context import NO_SERVICES
from orchestrator.binding.registry import Bindings
from orchestrator.definition.model import Combinator, Flow, Handler, Rpc, Step, TimerCondition, WaitFor
from orchestrator.definition.parse import parse
from orchestrator.errors import DefinitionInvalid
from tests.support.calls import snapshot, type_of

MODULE = '''
"""Handlers."""
from __future__ import annotations
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from orchestrator import Context
class Opaque: pass
CONSTANT = 5
def charge(order): return "charged"
def with_context(call: Context): return call.flow
async def later(ctx): return "later"
def typed(order: Opaque): ...
def two(order, other): ...
def keywords(order, *, fast): ...
def many(*orders): ...
def optional(order=None): return order
def generator(): yield 1
class Charge:
    def __call__(self, order): ...
instance = Charge()
'''

AT_EXECUTE = ("steps", "Charge", "execute")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    """A directory to import from, forgotten afterwards."""
    before, path = set(sys.modules), list(sys.path)
    (tmp_path / "shop_handlers.py").write_text(MODULE)
    (tmp_path / "more_handlers.py").write_text("def charge(order): return 'other'\ndef refund(order): ...\n")
    (tmp_path / "broken_handlers.py").write_text("def charge(order):\n    return (\n")
    (tmp_path / "raising_handlers.py").write_text("import nowhere_to_be_found\n")
    yield tmp_path
    sys.path[:] = path
    for name in set(sys.modules) - before:
        if name.endswith("_handlers"):
            del sys.modules[name]


def flow_with(handler: str, *modules: str, input: Any = "any") -> Flow:
    execute = Handler(name=handler, path=("steps", "Charge", "execute"))
    step = Step(name="Charge", input=None if input is None else type_of(input), execute=execute)
    return Flow(name="F", handlers=modules or ("shop_handlers",), steps={"Charge": step})


def problem_of(flow: Flow, project: Path) -> tuple[Any, ...]:
    (problem,) = Bindings(flow, [project]).problems()
    return tuple(problem)


@pytest.mark.parametrize(
    ("handler", "modules", "result"),
    [
        ("charge", ["shop_handlers", "more_handlers"], "charged"),
        ("charge", ["more_handlers", "shop_handlers"], "other"),
        ("more_handlers:charge", ["shop_handlers"], "other"),
        ("with_context", ["shop_handlers"], "F"),
        ("optional", ["shop_handlers"], 5),
        ("instance", ["shop_handlers"], None),
    ],
)
def test_names_are_looked_up_in_order(project: Path, handler: str, modules: list[str], result: Any) -> None:
    bindings = Bindings(flow_with(handler, *modules), [project])
    assert bindings.problems() == []
    assert bindings.execute("Charge").invoke(snapshot(input=5), NO_SERVICES).result == result


def test_an_async_handler_is_known_as_such(project: Path) -> None:
    assert Bindings(flow_with("later"), [project]).execute("Charge").is_async
    assert not Bindings(flow_with("charge"), [project]).execute("Charge").is_async


@pytest.mark.parametrize(
    ("handler", "modules", "path", "message", "advice"),
    [
        ("chargee", ["shop_handlers"], AT_EXECUTE,
         "there is no function `chargee` in `shop_handlers`", "did you mean `charge`?"),
        ("chargee", ["shop_handlers", "more_handlers"], AT_EXECUTE,
         "there is no function `chargee` in `shop_handlers` or `more_handlers`", "did you mean `charge`?"),
        ("zzz", ["shop_handlers"], AT_EXECUTE,
         "there is no function `zzz` in `shop_handlers`", "write `def zzz(…)` there"),
        ("charge", ["shop_handler"], ("handlers",),
         "there is no module `shop_handler`", "looked for shop_handler.py; create it there"),
        ("charge", ["more_handlers", "shop.inner"], ("handlers", 1),
         "there is no module `shop.inner`", "looked for shop/inner.py; create it there"),
        ("nowhere:charge", ["shop_handlers"], AT_EXECUTE,
         "there is no module `nowhere`", "looked for nowhere.py; create it there"),
        ("charge", ["raising_handlers"], ("handlers",),
         "importing `raising_handlers` fails: ModuleNotFoundError: No module named 'nowhere_to_be", ":1"),
        ("charge", ["broken_handlers"], ("handlers",),
         "importing `broken_handlers` fails: SyntaxError: '(' was never closed", "broken_handlers.py:2"),
        ("CONSTANT", ["shop_handlers"], AT_EXECUTE, "`CONSTANT` is of type int", "f(ctx, input)"),
        ("Charge", ["shop_handlers"], AT_EXECUTE, "`Charge` is a class", "f(ctx, input)"),
        ("generator", ["shop_handlers"], AT_EXECUTE, "`generator` is a generator", "do not yield"),
        ("two", ["shop_handlers"], AT_EXECUTE,
         "`two` takes `order`, `other`; a handler takes one input", "f(ctx, input)"),
        ("keywords", ["shop_handlers"], AT_EXECUTE,
         "`keywords` has the parameter `fast`", "f(ctx, input)"),
        ("many", ["shop_handlers"], AT_EXECUTE, "`many` has the parameter `*orders`", "f(input)"),
        ("typed", ["shop_handlers"], AT_EXECUTE,
         "`typed` takes `order` of a type that no JSON becomes: `Opaque`", "annotate a dataclass"),
    ],
)  # fmt: skip
def test_a_handler_that_cannot_be_bound_is_a_problem_with_place_and_advice(
    project: Path, handler: str, modules: list[str], path: Any, message: str, advice: str
) -> None:
    found_path, found_message, found_advice, _ = problem_of(flow_with(handler, *modules), project)
    assert found_path == path
    assert message in found_message
    assert advice in found_advice


def test_a_handler_with_input_on_a_step_without_is_a_problem(project: Path) -> None:
    _, message, advice, code = problem_of(flow_with("charge", input=None), project)
    assert message == "`charge` takes the input `order`, but Charge declares none"
    assert advice == "declare `input:` on Charge, or drop the parameter"
    assert code == "DAT008"


def test_an_optional_input_is_left_out_on_a_step_without(project: Path) -> None:
    handler = Bindings(flow_with("optional", input=None), [project]).execute("Charge")
    assert handler.invoke(snapshot(input=None), NO_SERVICES).result is None


def test_a_bare_name_needs_a_module(project: Path) -> None:
    flow = Flow(name="F", steps={"Charge": Step(name="Charge", execute=Handler(name="charge"))})
    _, message, advice, _ = problem_of(flow, project)
    assert message == "the handler `charge` has no module to be looked up in"
    assert "write `some.module:charge`" in advice


def test_problems_are_located_in_the_file(project: Path) -> None:
    text = """\
flow: F
handlers: shop_handlers
start: A
steps:
  A: {execute: chargee, go_to: B}
  B: {execute: {timeout: 1s, handler: refundd}, dead_end: true}
"""
    flow, problems = parse(text, "flows/f.flow.yaml")
    assert flow is not None and problems == []
    located = locate(flow, Bindings(flow, [project]).problems())
    assert [problem.concise() for problem in located] == [
        "flows/f.flow.yaml:5:16: REF004 there is no function `chargee` in `shop_handlers`",
        "flows/f.flow.yaml:6:39: REF004 there is no function `refundd` in `shop_handlers`",
    ]
    assert located[0].name == "unknown-handler"


def test_all_problems_are_reported_in_one_go(project: Path) -> None:
    steps = {name: Step(name=name, execute=Handler(name=f"no_{name}", path=(name,))) for name in "ABC"}
    problems = Bindings(Flow(name="F", handlers=("shop_handlers",), steps=steps), [project]).problems()
    assert [problem.path for problem in problems] == [("A",), ("B",), ("C",)]


def test_every_kind_of_method_is_bound(project: Path) -> None:
    wait_for = WaitFor(Combinator.HANDLER, (TimerCondition(id="t"),), handler=Handler(name="with_context"))
    flow = Flow(
        name="F",
        handlers=("shop_handlers",),
        steps={"A": Step(name="A", wait_for=wait_for, execute=Handler(name="later"))},
        rpcs={"r": Rpc(name="r", handler=Handler(name="later"))},
        on_timeout=Step(name="on_timeout", execute=Handler(name="later")),
    )
    bindings = Bindings(flow, [project])
    assert bindings.problems() == []
    assert bindings.wait_for("A").method.conditions == ("t",)
    handlers = [bindings.execute("A"), bindings.rpc("r"), bindings.execute("on_timeout")]
    assert all(handler.is_async for handler in handlers)


def test_asking_for_a_handler_that_is_not_bound_says_why(project: Path) -> None:
    bindings = Bindings(flow_with("chargee"), [project])
    with pytest.raises(DefinitionInvalid, match="bound for the execute of Charge; there is no function"):
        bindings.execute("Charge")


SHAPES = """
from __future__ import annotations
import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING
from orchestrator import Context
if TYPE_CHECKING:
    from somewhere import Elsewhere

@dataclass
class Order:
    id: int

def logged(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)
    return wrapper

class Service:
    def charge(self, order: Order): return order.id
    @classmethod
    def of_class(cls, ctx: Context, order: Order): return order.id
    @staticmethod
    def static(order: Order): return order.id

def _scaled(factor: int, order: Order): return factor * order.id

service = Service()
part = functools.partial(_scaled, 1)

@logged
def decorated(ctx, order: Order): return order.id

@logged
async def decorated_async(order: Order): return order.id

def elsewhere(order: Elsewhere): ...
"""


@pytest.mark.parametrize(
    "handler",
    [
        "service.charge", "Service.of_class", "Service.static", "part", "decorated", "decorated_async",
        "shape_handlers:service.charge",
    ],
)  # fmt: skip
def test_methods_partials_and_decorated_functions_are_called_with_their_annotated_type(
    project: Path, handler: str
) -> None:
    (project / "shape_handlers.py").write_text(SHAPES)
    bindings = Bindings(flow_with(handler, "shape_handlers"), [project])
    assert bindings.problems() == []
    assert bindings.execute("Charge").invoke(snapshot(input={"id": 5}), NO_SERVICES).result == 5


@pytest.mark.parametrize(
    ("handler", "message", "advice"),
    [
        ("Service.charge", "`Service.charge` takes `self`, `order`", "`service.charge`"),
        ("service.chrge", "there is no function `service.chrge` in `shape_handlers`", "into `service`"),
        ("elsewhere", "`elsewhere` takes `order: Elsewhere`, which names nothing", "`if TYPE_CHECKING:`"),
    ],
)
def test_what_is_wrong_with_a_method_or_an_annotation_is_said(
    project: Path, handler: str, message: str, advice: str
) -> None:
    (project / "shape_handlers.py").write_text(SHAPES)
    _, found_message, found_advice, _ = problem_of(flow_with(handler, "shape_handlers"), project)
    assert message in found_message
    assert advice in found_advice
