"""What a handler does with its context: `ctx.publish("x", …)`, `ctx.attributes["y"] = …`, and so on."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from enum import StrEnum

from orchestrator.binding.source.files import FunctionSource, PythonFile, PythonFiles


class Act(StrEnum):
    PUBLISH = "publish"
    SET = "set"
    SET_ENTRY = "set an entry"
    """`ctx.attributes[name][key] = …`: a write where the attribute is a map, else a change of a copy."""
    CHANGE_COPY = "change a copy"
    CANCEL = "cancel"
    READ_ATTRIBUTE = "read"
    READ_ENTRIES = "read entries"
    """Of an attribute, where it is a map."""
    READ_CHANNEL = "look at"
    READ_MESSAGES = "read messages"
    READ_WAIT = "read the wait"
    SET_LOCAL = "set a local"
    HEARTBEAT = "heartbeat"
    ASK_CANCELLED = "cancelled"
    MEMBER = "member"
    """Any other `ctx.name`."""


@dataclass(frozen=True)
class Deed:
    act: Act
    name: str | None
    """Of the channel, attribute, step, condition or member; None: known only when it runs."""
    file: PythonFile
    node: ast.AST
    value: ast.expr | None = None
    """What is written or published, where it stands there by itself."""
    has_key: bool | None = None
    """Of a publish: whether a key is given; None where that cannot be told."""
    is_always: bool = False
    """Every call that comes to its end does it."""


@dataclass
class Deeds:
    found: list[Deed] = field(default_factory=list)
    is_whole: bool = True
    """False: the context also goes where nobody looks, so there may be more."""

    def has(self, *acts: Act) -> bool:
        return any(deed.act in acts for deed in self.found)


_CONTAINERS = {
    "attributes": Act.READ_ATTRIBUTE,
    "channels": Act.READ_CHANNEL,
    "wait": Act.READ_WAIT,
}
_CALLS = {"publish": (Act.PUBLISH, "channel"), "cancel": (Act.CANCEL, "step")}
_CHANGING = frozenset({"append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort", "update"})
"""Methods of lists, dicts and sets that are called for what they change."""
_PLAIN = (
    ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return | ast.Delete | ast.With | ast.AsyncWith
    | ast.withitem | ast.Await | ast.Call | ast.keyword | ast.Attribute | ast.Subscript | ast.Tuple | ast.List
    | ast.Dict | ast.Starred | ast.JoinedStr | ast.FormattedValue | ast.BinOp | ast.UnaryOp
)  # fmt: skip
"""What evaluates all its parts, once."""
_READING = frozenset({"get", "items", "keys", "values"})
_DEPTH = 6
"""How far a context is followed from function to function."""


def deeds_of(source: FunctionSource, context: str, files: PythonFiles) -> Deeds:
    """`context` is the parameter's name. Functions of the same package that get the context are read too."""
    deeds = Deeds()
    _Reader(source, context, files, deeds, ((source, context),)).read()
    return deeds


class _Reader:
    """Of one function."""

    def __init__(
        self,
        source: FunctionSource,
        context: str,
        files: PythonFiles,
        deeds: Deeds,
        callers: tuple[tuple[FunctionSource, str], ...],
    ) -> None:
        self._source = source
        self._context = context
        self._files = files
        self._deeds = deeds
        self._callers = callers

    def read(self) -> None:
        uses = [n for n in self._source.nodes if isinstance(n, ast.Name) and n.id == self._context]
        names = [node.arg for node in self._source.nodes if isinstance(node, ast.arg)]
        if names.count(self._context) > 1 or any(not isinstance(use.ctx, ast.Load) for use in uses):
            self._deeds.is_whole = False  # another thing goes by this name
            return
        for use in uses:
            self._read_use(use)

    def _read_use(self, use: ast.Name) -> None:
        parent = self._parent(use)
        if isinstance(parent, ast.Attribute):
            self._read_member(parent)
        elif isinstance(parent, ast.keyword):
            self._follow(self._parent(parent), parent.arg)
        elif isinstance(parent, ast.Call) and use in parent.args:
            self._follow(parent, parent.args.index(use))
        else:
            self._deeds.is_whole = False

    def _read_member(self, member: ast.Attribute) -> None:
        name = member.attr
        if name in _CONTAINERS:
            self._read_container(_CONTAINERS[name], member)
        elif name == "local":
            item = self._parent(member)
            if isinstance(item, ast.Subscript) and isinstance(item.ctx, ast.Store | ast.Del):
                self._add(Act.SET_LOCAL, self._source.literal(item.slice), item)
        elif name == "cancelled":
            self._add(Act.ASK_CANCELLED, None, member)
        elif name in _CALLS or name == "heartbeat":
            self._read_call(name, member)
        else:
            self._add(Act.MEMBER, name, member)

    def _read_call(self, name: str, member: ast.Attribute) -> None:
        call = self._parent(member)
        if name == "heartbeat":
            self._add(Act.HEARTBEAT, None, member)  # also where it is handed on: `every(10, ctx.heartbeat)`
        elif isinstance(call, ast.Call) and call.func is member:
            act, keyword = _CALLS[name]
            target = self._source.literal(_argument(call, 0, keyword))
            if act is Act.PUBLISH and _is_spelt_out(call):
                value = _argument(call, 1, "value") or ast.Constant(None)
                self._add(act, target, call, value, has_key=_argument(call, 2, "key") is not None)
            else:
                self._add(act, target, call)
        else:
            self._deeds.is_whole = False

    def _read_container(self, read: Act, node: ast.expr) -> None:
        """`node` is `ctx.attributes`, or a variable that stands for it."""
        parent = self._parent(node)
        if isinstance(parent, ast.Subscript) and parent.value is node:
            self._read_item(read, parent)
        elif isinstance(parent, ast.Attribute):
            self._read_attribute(read, parent)
        elif isinstance(parent, ast.Compare) and len(parent.comparators) == 1 and parent.left is not node:
            self._add(read, self._source.literal(parent.left), parent.left)
        elif isinstance(parent, ast.Assign) and (names := self._alias(parent)) is not None:
            for name in names:
                self._read_container(read, name)
        elif not isinstance(parent, ast.For | ast.comprehension):
            self._deeds.is_whole = False

    def _read_item(self, read: Act, item: ast.Subscript) -> None:
        name = self._source.literal(item.slice)
        if read is Act.READ_ATTRIBUTE:
            act = Act.SET if isinstance(item.ctx, ast.Store | ast.Del) else self._change_of(item) or read
            written = item if act is Act.SET else self._parent(item)
            self._add(act, name, item, self._assigned(written) if act is not read else None)
            if act is read and self._are_entries_read(item):
                self._add(Act.READ_ENTRIES, name, item)
        else:
            self._add(read, name, item)
            if read is Act.READ_CHANNEL and self._are_messages_read(item):
                self._add(Act.READ_MESSAGES, name, item)

    def _assigned(self, target: ast.AST | None) -> ast.expr | None:
        """The value of `target = value`."""
        statement = self._parent(target) if target is not None else None
        if isinstance(statement, ast.Assign) and target in statement.targets:
            return statement.value
        return statement.value if isinstance(statement, ast.AnnAssign) else None

    def _are_entries_read(self, item: ast.Subscript) -> bool:
        """`[key]`, `.get(key)`, `.items()`, `key in …`, `for key in …`, `len(…)`."""
        parent = self._parent(item)
        match parent:
            case ast.Subscript(value=value):
                return value is item
            case ast.Attribute(attr=name):
                return name in _READING
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()]):
                return left is not item
            case ast.For(iter=iterable) | ast.comprehension(iter=iterable):
                return iterable is item
            case ast.Call(func=ast.Name(id="len" | "list" | "dict" | "sorted"), args=[argument]):
                return argument is item
            case _:
                return False

    def _are_messages_read(self, item: ast.Subscript) -> bool:
        """`ctx.channels[name].messages`, or of one instance of a map."""
        parent = self._parent(item)
        if isinstance(parent, ast.Subscript) and parent.value is item:
            parent = self._parent(parent)
        return isinstance(parent, ast.Attribute) and parent.attr == "messages"

    def _change_of(self, item: ast.Subscript) -> Act | None:
        """What is done to the value of `ctx.attributes[name]`, if it is changed."""
        parent = self._parent(item)
        if isinstance(parent, ast.Subscript) and parent.value is item:
            if isinstance(parent.ctx, ast.Store | ast.Del):
                return Act.SET_ENTRY
            return Act.CHANGE_COPY if self._change_of(parent) is not None else None
        if not isinstance(parent, ast.Attribute) or parent.attr not in _CHANGING:
            return None
        call = self._parent(parent)
        is_statement = isinstance(call, ast.Call) and isinstance(self._parent(call), ast.Expr)
        return (Act.SET_ENTRY if parent.attr == "clear" else Act.CHANGE_COPY) if is_statement else None

    def _read_attribute(self, read: Act, member: ast.Attribute) -> None:
        call = self._parent(member)
        if read is Act.READ_WAIT:
            self._add(read, member.attr, member)
        elif member.attr == "get" and isinstance(call, ast.Call) and call.func is member and call.args:
            self._add(read, self._source.literal(call.args[0]), call)

    def _alias(self, assignment: ast.Assign) -> list[ast.Name] | None:
        """Where `attributes = ctx.attributes` is used; None where that cannot be told."""
        target = assignment.targets[0]
        if not isinstance(target, ast.Name) or self._source.assigned_once(target.id) is not assignment.value:
            return None
        return [
            node
            for node in self._source.nodes
            if isinstance(node, ast.Name) and node.id == target.id and isinstance(node.ctx, ast.Load)
        ]

    def _follow(self, call: ast.AST | None, argument: int | str | None) -> None:
        """Read the function that gets the context, if it is one of the same package."""
        if not isinstance(call, ast.Call) or any(isinstance(each, ast.Starred) for each in call.args):
            self._deeds.is_whole = False
            return
        callee = callee_of(self._source, call, self._files)
        name = _parameter(callee, argument) if callee is not None else None
        if callee is None or name is None or len(self._callers) >= _DEPTH:
            self._deeds.is_whole = False
        elif (callee, name) not in self._callers:
            _Reader(callee, name, self._files, self._deeds, (*self._callers, (callee, name))).read()

    def _parent(self, node: ast.AST) -> ast.AST | None:
        return self._source.parents.get(node)

    def _add(
        self,
        act: Act,
        name: str | None,
        node: ast.AST,
        value: ast.expr | None = None,
        *,
        has_key: bool | None = None,
    ) -> None:
        is_always = len(self._callers) == 1 and self._is_always_done(node)
        self._deeds.found.append(Deed(act, name, self._source.file, node, value, has_key, is_always))

    def _is_always_done(self, node: ast.AST) -> bool:
        """It stands in the body itself, not in a branch, a loop or behind a way out."""
        line = node.lineno  # type: ignore[attr-defined]
        for each in self._source.own_nodes:
            if isinstance(each, ast.Return | ast.Raise) and each.lineno < line:
                return False
        parent = self._parent(node)
        while parent is not None and parent is not self._source.node:
            if not isinstance(parent, _PLAIN):
                return False
            parent = self._parent(parent)
        return True


def callee_of(source: FunctionSource, call: ast.Call, files: PythonFiles) -> FunctionSource | None:
    """The plain function that is called, where it is one of the same package and has no decorator."""
    called = source.resolve(call.func)
    callee = files.source_of(called) if callable(called) and not isinstance(called, type) else None
    if callee is None or callee.function is not called or callee.node.decorator_list:
        return None
    return callee if _package(callee) == _package(source) else None


def _package(source: FunctionSource) -> str:
    return source.function.__module__.partition(".")[0]


def _parameter(callee: FunctionSource, argument: int | str | None) -> str | None:
    """What the callee calls the argument at this position, or of this keyword."""
    arguments = callee.node.args
    positional = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    if isinstance(argument, int):
        return positional[argument] if argument < len(positional) else None
    names = [*positional, *(each.arg for each in arguments.kwonlyargs)]
    return argument if argument in names else None


def _is_spelt_out(call: ast.Call) -> bool:
    """No `*args` and no `**options`."""
    is_starred = any(isinstance(each, ast.Starred) for each in call.args)
    return not is_starred and all(each.arg is not None for each in call.keywords)


def _argument(call: ast.Call, position: int, keyword: str) -> ast.expr | None:
    """One argument, however it is given."""
    if position < len(call.args):
        return call.args[position]
    return next((each.value for each in call.keywords if each.arg == keyword), None)
