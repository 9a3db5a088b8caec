from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

import pytest

from orchestrator.definition.expressions import (
    Environment,
    Expression,
    ExpressionFailed,
    ExpressionProblem,
    Literal,
    parse_guard,
    parse_value,
)
from orchestrator.definition.types import Type, parse_type

TYPES: dict[str, Any] = {
    "Edit": {
        "type": "object",
        "required": ["reviewer"],
        "properties": {
            "reviewer": {"type": "string"},
            "should_withdraw": {"type": "boolean", "default": False},
            "pages": {"type": "integer"},
            "price": {"type": "number"},
            "due": {"type": "string", "format": "date-time"},
            "outcome": {"enum": ["saved", "withdrawn", "failed"]},
            "note": {"type": ["string", "null"]},
        },
    },
}


def _type(written: Any) -> Type:
    return parse_type(written, TYPES)


_TIME = {"type": "string", "format": "date-time"}
ENVIRONMENT = Environment(
    {
        "edit": _type("Edit"),
        "input": _type("list of Edit"),
        "free": _type("any"),
        "attributes": _type(
            {
                "properties": {
                    "n": {"type": "integer"},
                    "status": {"type": "string"},
                    "progress": {"type": "object", "additionalProperties": {"type": "number"}},
                }
            }
        ),
        "now": _type(_TIME),
        "times": _type({"type": "array", "items": _TIME}),
        "wait": _type({"properties": {"c": {"properties": {"messages": {"type": "array"}, "message": {}}}}}),
        "result": _type("none"),
    },
    types=TYPES,
)
EDIT = {
    "reviewer": "ann",
    "should_withdraw": True,
    "pages": 3,
    "price": 2,
    "due": "2026-01-01T01:00:00+01:00",
    "outcome": "saved",
    "note": None,
}
SCOPE: dict[str, Any] = {
    "edit": EDIT,
    "input": [EDIT, {"reviewer": "bob", "should_withdraw": False, "pages": 5, "price": 0.5}],
    "free": {"a": 1, "b": [1, 2.5], "t": "x", "z": None, "name": "héllo"},
    "attributes": {"n": 5, "status": None, "progress": {"k": 2}},
    "now": datetime(2026, 1, 2, tzinfo=UTC),
    "times": ["2026-01-01T00:00:00Z", "2025-12-31T23:30:00-01:00"],
    "wait": {"c": {"messages": [1, 2]}},
    "result": None,
}


def _evaluate(written: Any, **scope: Any) -> Any:
    return parse_value(written, ENVIRONMENT).evaluate({**SCOPE, **scope})


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        # paths
        ("edit", EDIT),
        ("edit.reviewer", "ann"),
        ("input[1].reviewer", "bob"),
        ('free["a"]', 1),
        ("edit.due", "2026-01-01T00:00:00Z"),
        ("now", "2026-01-02T00:00:00Z"),
        # numbers: an integer is an int, a number always a double, unknown ones as they look
        ("attributes.n + 1", 6),
        ("edit.price + 1.0", 3.0),
        ("edit.price * edit.price", 4.0),
        ("double(edit.pages) / edit.price", 1.5),
        ("edit.pages > edit.price", True),
        ("free.a + 1", 2),
        ("free.b[1] + 1.0", 3.5),
        ("-edit.price", -2.0),
        ("edit.pages % 2 == 1", True),
        ("input.map(e, e.price + 1.0)", [3.0, 1.5]),
        ("input.map(e, e.price)[0] + 1.0", 3.0),
        # times and durations
        ("now - edit.due", 86400),
        ("now > edit.due", True),
        ('edit.due + duration("36h")', "2026-01-02T12:00:00Z"),
        ('duration("2d")', 172800),
        ('duration("-1h30m")', -5400),
        ("seconds(1.5)", 1.5),
        ("millis(now)", 1767312000000),
        ("now + seconds(0.5)", "2026-01-02T00:00:00.5Z"),
        ("edit.due.getFullYear()", 2026),
        ("times.exists(t, t < now)", True),
        ('timestamp("2026-01-01T00:00:00Z") in times', True),
        ("max(times)", "2026-01-01T00:30:00Z"),
        ('timestamp("2026-01-02T00:00:00Z") == now', True),
        # library
        ("range(3)", [0, 1, 2]),
        ("sum(input.map(e, e.pages))", 8),
        ("sum(input.map(e, e.price)) + 1.0", 3.5),
        ("sum([])", 0),
        ('sum([duration("1m"), duration("1s")])', 61),
        ("min([2, 1])", 1),
        ("max(input.map(e, e.reviewer))", "bob"),
        ("coalesce(free.z, 7)", 7),
        ("coalesce(free.a, 7)", 1),
        ('coalesce(edit.note, coalesce(attributes.status, "none"))', "none"),
        ('merge(free, {"a": null, "b": 1, "t": null, "z": 2})', {"b": 1, "name": "héllo", "z": 2}),
        ("math.greatest(1, 5, 3)", 5),
        ("math.ceil(edit.price)", 2.0),
        ('"a,b".split(",")', ["a", "b"]),
        ('input.map(e, e.reviewer).join("+")', "ann+bob"),
        ('"%s has %d".format([edit.reviewer, edit.pages])', "ann has 3"),
        ("free.name.size()", 5),
        ("cel.bind(x, edit.pages, x * x)", 9),
        ("strings.quote(edit.reviewer)", '"ann"'),
        # optionals
        ('free.?nothing.orValue("")', ""),
        ("attributes.progress.?k.orValue(0.0) + 1.0", 3.0),
        ("attributes.progress.?missing.orValue(0.5)", 0.5),
        ("edit.?due.orValue(now) < now", True),
        ("free.?b.optMap(b, size(b)).orValue(0)", 2),
        ("has(free.a) && !has(free.nothing)", True),
        ("has(edit.due) ? edit.due : now", "2026-01-01T00:00:00Z"),
        ('{"a": 1, ?"b": free.?nothing}', {"a": 1}),
        ("[1, ?free.?nothing]", [1]),
        # logic, macros, structures
        ("edit.should_withdraw ? 'yes' : 'no'", "yes"),
        ("edit.pages > 5 ? edit.pages : null", None),
        ("dyn(1) == 1 ? dyn(1) : dyn('a')", 1),
        ("input.filter(e, e.should_withdraw).size()", 1),
        ("input.all(e, e.pages > 0)", True),
        ("input.exists_one(e, e.reviewer == 'bob')", True),
        ("free.map(k, k)", ["a", "b", "name", "t", "z"]),
        ("attributes.progress.map(k, k)", ["k"]),
        ("'k' in attributes.progress", True),
        ("attributes.status == null", True),
        ("free.nothing == 1 || true", True),
        ('{"a": {"b": [1, true, null]}}', {"a": {"b": [1, True, None]}}),
        ("input == [] ? 0 : size(input)", 2),
        ("[edit.due]", ["2026-01-01T00:00:00Z"]),
        ('"}" + \'{\' + r"\\d" + "\\""', '}{\\d"'),
    ],
)
def test_an_expression_gives_its_value(source: str, expected: Any) -> None:
    found = _evaluate("${" + source + "}")
    assert found == expected
    assert type(found) is type(expected)


def test_an_expression_too_deep_to_follow_is_reported() -> None:
    for source in ("+".join(["edit.pages"] * 2000), "(" * 500 + "1" + ")" * 500, "[" * 200 + "]" * 200):
        with pytest.raises(ExpressionProblem):
            parse_value("${" + source + "}", ENVIRONMENT)


@pytest.mark.parametrize("value", ["a\0b", ["x", "a\0b"], {"k": [{"a\0b": 1}]}, {"k": "a\0b"}])
def test_text_with_a_nul_is_never_cut_off_at_it(value: Any) -> None:
    assert _evaluate("${free}", free=value) == value
    for source in ("${[free]}", "${free == 'a'}", "n ${dyn(free)}"):
        with pytest.raises(ExpressionFailed, match="`free` holds a NUL character"):
            _evaluate(source, free=value)


def test_an_escaped_nul_is_plain_text() -> None:
    assert _evaluate("${size(free[0])}", free=["\\x00"]) == 4


def test_an_unknown_number_without_fraction_is_an_int_and_any_other_a_double() -> None:
    source = "${type(free) == int ? 'int' : type(free) == double ? 'double' : 'other'}"
    assert [_evaluate(source, free=value) for value in (1, 1.0, "1")] == ["int", "double", "other"]


@pytest.mark.parametrize(
    ("source", "message", "help", "token"),
    [
        ("edt.pages", "there is no name `edt` here", "did you mean `edit`?", "edt"),
        ("nme || true", "there is no name `nme` here", None, "nme"),
        (
            "edit.reviwer == 'a' || true",
            "`edit` has no field `reviwer`",
            "did you mean `reviewer`?",
            "reviwer",
        ),
        ("input.exists(e, e.pagse > 1)", "`e` has no field `pagse`", "did you mean `pages`?", "pagse"),
        ("has(edit.revewer)", "`edit` has no field `revewer`", "did you mean `reviewer`?", None),
        ("edit.?revewer", "`edit` has no field `revewer`", "did you mean `reviewer`?", "revewer"),
        ('edit["revewer"]', "`edit` has no field `revewer`", "did you mean `reviewer`?", None),
        ("input.reviewer", "`input` is a list, it has no field `reviewer`", None, "reviewer"),
        ("result.x", "`result` is always null here, it has no field `x`", "", "x"),
        (
            "edit.pages + 1.0",
            "`+` does not take integer and number",
            "write `double(…)` around the integer",
            "+",
        ),
        ("edit.price + 1", "`+` does not take number and integer", "write `1.0`", "+"),
        (
            '"n: " + edit.pages',
            "`+` does not take string and integer",
            "write `string(…)` around the other one",
            "+",
        ),
        ("now + 5", "`+` does not take time and integer", "write `seconds(…)` around the number", "+"),
        (
            'now > "2026-01-01T00:00:00Z"',
            "`>` does not take time and string",
            'write `timestamp("…")` around the text',
            ">",
        ),
        (
            "edit.pages == 'a'",
            "integer and string are never equal",
            "write `string(…)` around the number",
            "==",
        ),
        ('edit.outcome == "savd"', 'it is never "savd"', "did you mean `saved`?", "=="),
        ("edit.pages ? 1 : 2", "`?` takes boolean, not integer", "compare it: `!= 0`", "pages"),
        ("!edit.reviewer", "`!` takes boolean, not string", 'compare it: `!= ""`', "reviewer"),
        ("edit.should_withdraw ? 1 : 2.0", "`? :` gives integer or number; it must be one type", None, "?"),
        (
            "edit.reviewer.contain('x')",
            "there is no function `contain`",
            "did you mean `contains`?",
            "contain",
        ),
        ("sze(input)", "there is no function `sze`", "did you mean `size`?", "sze"),
        ("contains(edit.reviewer, 'x')", "`contains` is a method", "write `value.contains(…)`", "contains"),
        ("input.sum()", "`sum` is no method", "write `sum(…)`", "sum"),
        ("max(1, 2)", "`max(…)` does not take 2 arguments", "write `max([a, b])`", "max"),
        (
            "edit.reviewer.contains(1)",
            "`contains` takes string, not integer",
            "write `string(…)` around it",
            "contains",
        ),
        ("millis(5)", "`millis(…)` takes time, not integer", "", "millis"),
        ("edit.pages.map(x, x)", "this goes over lists and objects, not over integer", "", "map"),
        (
            "'a' in edit.reviewer",
            "`in` looks into lists and objects, not into text",
            "write `text.contains(part)`",
            "in",
        ),
        ("1 in input.map(e, e.reviewer)", "integer is never in a list of string", None, "in"),
        ("1u", "JSON has no unsigned numbers", "write `1`", None),
        (
            "free.?a",
            "the result is optional, which JSON does not have",
            "give it a value: `.orValue(…)`",
            "free.?a",
        ),
        ('b"a"', "the result is bytes, which JSON does not have", "write `string(…)` around it", 'b"a"'),
        ("Edit{reviewer: 'a'}", "there are no messages like `Edit{…}`", "write `{…}`", None),
        ("edit.pages = 3", "`=` means nothing here", "write `==` to compare", "="),
        ("edit.should_withdraw and true", "`and` is not expected here", "write `&&`", "and"),
        ("edit.pages ==", "the expression ends too early", "", None),
        ("(1", "the expression ends too early: `)` is missing", "", None),
        ("'abc", "the text is not closed", None, None),
        ("1 + if", "reserved identifier: if", "", "if"),
    ],
)
def test_a_wrong_expression_is_reported_at_its_token(
    source: str, message: str, help: str | None, token: str | None
) -> None:
    text = "${" + source + "}"
    if "'abc" in source:  # an open quote hides the brace: taken as a guard, where there is none
        with pytest.raises(ExpressionProblem) as caught:
            parse_guard(source, ENVIRONMENT)
        text = source
    else:
        with pytest.raises(ExpressionProblem) as caught:
            parse_value(text, ENVIRONMENT)
    problem = caught.value
    assert problem.message == message
    if help is not None:
        assert problem.help == help
    if token is not None:
        assert text[problem.offset : problem.end_offset] == token


@pytest.mark.parametrize("text", ["${", "a ${x", "${'}'", "${{1: 2}"])
def test_an_expression_that_does_not_end_is_reported_where_it_begins(text: str) -> None:
    with pytest.raises(ExpressionProblem, match="is not closed") as caught:
        parse_value(text, ENVIRONMENT)
    assert caught.value.offset == text.index("${")


def test_a_problem_inside_a_structure_says_where() -> None:
    with pytest.raises(ExpressionProblem) as caught:
        parse_value({"a": [1, "x ${edit.nme}"]}, ENVIRONMENT, path=("steps", "A", "input"))
    assert caught.value.at == ("a", 1)
    assert caught.value.offset == len("x ${edit.")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("free.nothing + 1", "`free.nothing` is absent; `.?` reads what may be absent"),
        ("free.nothing", "`free.nothing` is absent"),
        ("free.t.x", "`free.t` is a string, there is no `free.t.x`"),
        ("input[7].pages", "`input` has 2 elements, there is no `input[7]`"),
        ("wait.c.message", "`wait.c.message`: 2 messages were taken, read `messages`"),
        ("free.t + 1", "cannot compute string + integer"),
        ("free.b[1] + 1", "cannot compute number + integer; `double(n)` makes a number of an integer"),
        ("input.map(e, e.outcome)", 'there is no key "outcome"'),
        ("free.b[free.a + 8]", "there is no element 9 in a list of 2"),
        ("1 / (attributes.n - 5)", "divide by zero"),
        ("9223372036854775807 + attributes.n", "integer overflow"),
        ("1.0 / 0.0", "inf, which is not a JSON number"),
        ("[0.0 / 0.0]", "nan, which is not a JSON number"),
        ("{1: 2}", "the key 1 of the result is not text"),
        ("range(free.a - 2)", "range(-1): a range has 0 to 10000 elements"),
        ("range(100000)", "a range has 0 to 10000 elements"),
        ("range(10000).map(x, range(2).map(y, y))", "more than 10,000 rounds in one evaluation"),
        ("min(free.b.filter(x, x > 9))", "min: the list is empty"),
        ("sum(free.map(k, free[k]))", "sum: the list must hold numbers only, or durations only"),
        ("duration(free.t)", "`x` is not a duration"),
        ("timestamp(free.t)", "String to Timestamp conversion failed"),
        ("free.?nothing.value()", "none"),
        ("merge(free, free.b)", "`merge` does not take object, list"),
        ('"a".matches(free.t + "[")', "invalid regular expression"),
    ],
)
def test_an_expression_without_a_value_fails_and_names_itself(source: str, message: str) -> None:
    with pytest.raises(ExpressionFailed) as caught:
        _evaluate("${" + source + "}")
    assert message in caught.value.message
    assert caught.value.message.startswith(f"`{source}`: ")
    assert caught.value.message.count(f"`{source}`: ") == 1


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("plain", "plain"),
        ("$${edit.pages}", "${edit.pages}"),
        ("$$ and $x and {y}", "$$ and $x and {y}"),
        ("  ${edit.pages}  ", 3),
        ("${edit.reviewer} has ${edit.pages} pages", "ann has 3 pages"),
        (
            "${edit.should_withdraw}, ${edit.price}, ${1.50}, ${0.1 + 0.2}",
            "true, 2, 1.5, 0.30000000000000004",
        ),
        ("at ${now}", "at 2026-01-02T00:00:00Z"),
        ("for ${duration('90m')}", "for 1h30m"),
        ("of ${free.b} and ${{'a': edit.reviewer}}", 'of [1,2.5] and {"a":"ann"}'),
        ("${'a'}${'b'}", "ab"),
        ("$${a} ${'}'} ${\"{\"}", "${a} } {"),
        (5, 5),
        (None, None),
        ({"a": "${edit.pages}", "b": ["${edit.reviewer}", {"c": "x"}]}, {"a": 3, "b": ["ann", {"c": "x"}]}),
    ],
)
def test_text_and_structures_hold_expressions(written: Any, expected: Any) -> None:
    assert _evaluate(written) == expected


def test_null_inside_text_is_an_error() -> None:
    with pytest.raises(ExpressionFailed, match="null has no text"):
        _evaluate("note: ${edit.note}")
    with pytest.raises(ExpressionProblem, match="always null"):
        parse_value("result: ${result}", ENVIRONMENT)


def test_keys_are_expressions_only_where_the_language_says_so() -> None:
    written = {"${edit.reviewer}": 1, "p${edit.pages}": 2, "${edit.pages}": 3, "plain": 4}
    keyed = parse_value(written, ENVIRONMENT, allows_key_expressions=True)
    assert keyed.evaluate(SCOPE) == {"ann": 1, "p3": 2, "3": 3, "plain": 4}
    assert ("edit", "reviewer") in keyed.reads
    assert parse_value(written, ENVIRONMENT).evaluate(SCOPE) == written


def test_of_two_equal_keys_the_later_wins() -> None:
    value = parse_value({"${edit.reviewer}": 1, "ann": 2}, ENVIRONMENT, allows_key_expressions=True)
    assert value.evaluate(SCOPE) == {"ann": 2}


@pytest.mark.parametrize(("guard", "holds"), [("edit.should_withdraw", True), (True, True), (False, False)])
def test_a_guard_gives_a_boolean(guard: Any, holds: bool) -> None:
    assert parse_guard(guard, ENVIRONMENT).evaluate(SCOPE) is holds


@pytest.mark.parametrize(
    ("guard", "message", "help"),
    [
        ("${edit.pages > 1}", "a guard is an expression without `${…}`", "write `when: edit.pages > 1`"),
        ("edit.pages", "a guard gives true or false, not integer", ""),
        (5, "a guard is an expression that gives true or false", "write `a == b`"),
        ("", "the expression is empty", ""),
    ],
)
def test_a_wrong_guard_is_refused(guard: Any, message: str, help: str) -> None:
    with pytest.raises(ExpressionProblem) as caught:
        parse_guard(guard, ENVIRONMENT)
    assert (caught.value.message, caught.value.help) == (message, help)


def test_a_guard_that_turns_out_not_to_be_boolean_fails() -> None:
    with pytest.raises(ExpressionFailed, match="a guard must give true or false, not 1"):
        parse_guard("free.a", ENVIRONMENT).evaluate(SCOPE)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("${edit}", "Edit"),
        ("${edit.pages + 1}", "integer"),
        ("${edit.price}", "number"),
        ("${now}", "{type: string, format: date-time}"),
        ("${now - now}", "number"),
        ("${free.a}", "any"),
        ("${input.map(e, e.reviewer)}", "list of string"),
        ("${input[0]}", "Edit"),
        ("a ${edit.pages}", "string"),
        ("${edit.should_withdraw ? edit.pages : null}", "integer or none"),
        ("${coalesce(edit.note, edit.reviewer)}", "string"),
        ({"a": "${edit.pages}"}, "{type: object, required: [a], properties: {a: {type: integer}}}"),
        (["${edit.pages}"], "list of integer"),
    ],
)
def test_the_type_of_a_value_is_known(written: Any, text: str) -> None:
    assert parse_value(written, ENVIRONMENT).type.text == text


@pytest.mark.parametrize(
    ("written", "expected", "message", "at"),
    [
        ("${edit.reviewer}", "integer", "string is given where integer is asked", ()),
        ("abc", "integer", 'expected integer, got string "abc"', ()),
        ({"reviewer": "${edit.pages}"}, "Edit", "integer is given where string is asked", ("reviewer",)),
        ({"reviewer": 5}, "Edit", "expected string, got integer 5", ("reviewer",)),
        ({"pages": "${edit.pages}"}, "Edit", "`reviewer` is missing", ()),
        ([1, "${edit.reviewer}"], "list of integer", "string is given where integer is asked", (1,)),
        (
            {"reviewer": "a", "outcome": "${edit.pages > 1 ? 'saved' : 'lost'}"},
            "Edit",
            'expected "saved" or "withdrawn" or "failed", got string "lost"',
            ("outcome",),
        ),
    ],
)
def test_a_value_of_the_wrong_type_is_reported_at_its_part(
    written: Any, expected: Any, message: str, at: tuple[str | int, ...]
) -> None:
    with pytest.raises(ExpressionProblem) as caught:
        parse_value(written, ENVIRONMENT, _type(expected), ("steps", "A", "input"))
    assert (caught.value.message, caught.value.at) == (message, at)


@pytest.mark.parametrize(
    ("written", "reads"),
    [
        ("${edit.reviewer}", {("edit", "reviewer")}),
        ("${attributes.n + edit.pages}", {("attributes", "n"), ("edit", "pages")}),
        ("${attributes.progress.?k.orValue(0.0)}", {("attributes", "progress", "k")}),
        ("${has(attributes.progress.k)}", {("attributes", "progress", "k")}),
        ("${attributes.progress[edit.reviewer]}", {("attributes", "progress"), ("edit", "reviewer")}),
        ("${input.map(e, e.pages + attributes.n)}", {("input",), ("attributes", "n")}),
        ("${input[0].pages}", {("input",)}),
        ("x", set()),
        ({"a": "${now}", "b": "to ${edit.reviewer}"}, {("now",), ("edit", "reviewer")}),
    ],
)
def test_static_paths_are_known_before_anything_runs(written: Any, reads: set[tuple[str, ...]]) -> None:
    assert parse_value(written, ENVIRONMENT).reads == reads


def test_only_what_is_read_is_asked_of_the_scope() -> None:
    class Scope(dict[str, Any]):
        def __missing__(self, name: str) -> Any:
            raise AssertionError(f"{name} was asked for")

    value = parse_value("${edit.pages + 1}", ENVIRONMENT)
    assert value.evaluate(Scope(edit=EDIT)) == 4


def test_let_names_stand_for_their_values() -> None:
    environment = ENVIRONMENT
    lets: dict[str, Any] = {
        "who": "${edit.reviewer}",
        "title": "by ${edit.reviewer}, ${edit.pages}",
        "record": {"who": "${who}", "due": "${edit.due}", "price": "${edit.price}", "kind": "x"},
        "tomorrow": "${now + duration('1d')}",
    }
    for name, written in lets.items():
        environment = environment.with_let(name, parse_value(written, environment))
    value = parse_value(
        "${[title, record.who, record.kind, string(record.price + 1.0), string(tomorrow)].join('/')}",
        environment,
    )
    assert value.evaluate(SCOPE) == "by ann, 3/ann/x/3/2026-01-03T00:00:00Z"
    assert value.reads == {
        ("edit", "reviewer"),
        ("edit", "pages"),
        ("edit", "price"),
        ("edit", "due"),
        ("now",),
    }
    assert parse_value("${who.size()}", environment).reads == {("edit", "reviewer")}


def test_a_let_name_is_not_captured_by_a_variable_of_a_macro() -> None:
    environment = ENVIRONMENT.with_let("pages", parse_value("${edit.pages}", ENVIRONMENT))
    value = parse_value("${input.map(edit, edit.pages + pages)}", environment)
    assert value.evaluate(SCOPE) == [6, 8]


def test_a_let_that_reads_what_is_not_known_yet_cannot_be_used() -> None:
    waiting = Environment({"edit": _type("Edit")})
    environment = waiting.with_let("took", parse_value("${wait.c.messages}", ENVIRONMENT))
    with pytest.raises(ExpressionProblem, match="`took` reads `wait`, which is not known yet in a wait"):
        parse_value("${took}", environment)


def test_an_item_has_the_type_of_the_elements() -> None:
    environment = ENVIRONMENT.with_item("each", parse_value("${input}", ENVIRONMENT))
    value = parse_value("${each.price + 1.0}", environment)
    assert value.evaluate({**SCOPE, "each": {"price": 1}}) == 2.0
    with pytest.raises(ExpressionProblem, match="`each` has no field `x`"):
        parse_value("${each.x}", environment)


def test_values_are_equal_by_content_not_by_place() -> None:
    one = parse_value("${edit.pages}", ENVIRONMENT, path=("a",))
    assert one == parse_value("${ edit.pages }", ENVIRONMENT, path=("b",))
    assert one != parse_value("${edit.price}", ENVIRONMENT)
    assert parse_value(1, ENVIRONMENT) != parse_value(True, ENVIRONMENT)


def test_a_value_tells_whether_it_is_literal_and_its_expressions() -> None:
    literal = parse_value({"a": [1, "$${x}"]}, ENVIRONMENT)
    assert isinstance(literal, Literal) and literal.is_literal
    assert literal.evaluate({}) == {"a": [1, "${x}"]}
    mixed = parse_value({"a": "${now}", "b": "c ${edit.pages}"}, ENVIRONMENT)
    assert not mixed.is_literal
    assert [expression.source for expression in mixed.expressions] == ["now", "edit.pages"]
    assert mixed.text == "{a: ${now}, b: c ${edit.pages}}"
    guard = parse_guard("edit.pages > 1", ENVIRONMENT)
    assert isinstance(guard, Expression) and guard.names == {"edit"}


def test_the_cel_library_is_not_loaded_before_the_first_expression_that_needs_it() -> None:
    program = """
import sys
import orchestrator.definition.scopes
from orchestrator.definition.expressions import Environment, parse_value
from orchestrator.definition.types import ANY
parse_value("${a.b}", Environment({"a": ANY})).evaluate({"a": {"b": 1}})
sys.exit("cel_expr_python" in sys.modules or "jsonschema" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
