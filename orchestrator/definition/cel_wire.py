"""`cel.expr.ParsedExpr`, read and written in protobuf's wire format.

Field numbers are those of cel-spec's `syntax.proto`, which never change.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import count

from orchestrator.definition.cel_tree import (
    Call,
    Const,
    Entry,
    Fold,
    Ident,
    ListNode,
    MapNode,
    Node,
    Read,
    Select,
)

_TYPE_URL = b"type.googleapis.com/cel.expr.ParsedExpr"
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5


# --- Reading -----------------------------------------------------------------------------------------------


def decode(serialized: bytes) -> Node:
    """The tree inside a serialized `Any` of a ParsedExpr."""
    parsed = _message(_last(serialized, 2))
    source = _message(parsed[3][0]) if 3 in parsed else {}
    positions: dict[int, int] = {}
    for entry in source.get(4, ()):
        fields = _message(entry)
        positions[_signed(fields.get(1, [0])[0])] = _signed(fields.get(2, [0])[0])
    return _Reader(positions).read(parsed[2][0])


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    offset = 0
    while offset < len(data):
        tag, offset = _varint(data, offset)
        kind = tag & 7
        value: int | bytes
        if kind == _VARINT:
            value, offset = _varint(data, offset)
        elif kind == _LENGTH:
            length, offset = _varint(data, offset)
            value, offset = data[offset : offset + length], offset + length
        else:
            length = 8 if kind == _FIXED64 else 4
            value, offset = data[offset : offset + length], offset + length
        yield tag >> 3, value


def _message(data: int | bytes) -> dict[int, list[int | bytes]]:
    found: dict[int, list[int | bytes]] = {}
    for number, value in _fields(_bytes(data)):
        found.setdefault(number, []).append(value)
    return found


def _last(data: bytes, wanted: int) -> int | bytes:
    return _message(data)[wanted][-1]


def _varint(data: bytes, offset: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[offset]
        value |= (byte & 0x7F) << shift
        offset, shift = offset + 1, shift + 7
        if byte < 0x80:
            return value, offset


def _signed(value: int | bytes) -> int:
    number = _int(value)
    return number - 2**64 if number >= 2**63 else number


def _int(value: int | bytes) -> int:
    if isinstance(value, bytes):
        raise ValueError("not a number on the wire")
    return value


def _bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise ValueError("not bytes on the wire")
    return value


class _Reader:
    def __init__(self, positions: dict[int, int]) -> None:
        self._positions = positions

    def read(self, data: int | bytes) -> Node:
        fields = _message(data)
        at = self._positions.get(_signed(fields.get(2, [0])[0]), 0)
        if 3 in fields:
            return self._const(at, _bytes(fields[3][0]))
        if 4 in fields:
            return Ident(at, self._text(_message(fields[4][0]), 1))
        if 5 in fields:
            select = _message(fields[5][0])
            return Select(at, self.read(select[1][0]), self._text(select, 2), bool(select.get(3)))
        if 6 in fields:
            call = _message(fields[6][0])
            target = self.read(call[1][0]) if 1 in call else None
            return Call(at, self._text(call, 2), [self.read(arg) for arg in call.get(3, [])], target)
        if 7 in fields:
            return self._list(at, _message(fields[7][0]))
        if 8 in fields:
            return self._map(at, _message(fields[8][0]))
        return self._fold(at, _message(fields[9][0]))

    def _text(self, fields: dict[int, list[int | bytes]], number: int) -> str:
        return _bytes(fields.get(number, [b""])[0]).decode()

    def _const(self, at: int, data: bytes) -> Const:
        [(number, value)] = list(_fields(data)) or [(1, 0)]
        if number == 1:
            return Const(at, None)
        if number == 2:
            return Const(at, bool(value))
        if number in (3, 4):
            return Const(at, _signed(value), is_unsigned=number == 4)
        raw = _bytes(value)
        if number == 5:
            return Const(at, struct.unpack("<d", raw)[0])
        return Const(at, raw.decode() if number == 6 else raw)

    def _list(self, at: int, fields: dict[int, list[int | bytes]]) -> ListNode:
        optional: list[int] = []
        for packed in fields.get(2, []):
            data, offset = _bytes(packed), 0
            while offset < len(data):
                index, offset = _varint(data, offset)
                optional.append(index)
        return ListNode(at, [self.read(element) for element in fields.get(1, [])], tuple(optional))

    def _map(self, at: int, fields: dict[int, list[int | bytes]]) -> MapNode:
        entries = []
        for data in fields.get(2, []):
            entry = _message(data)
            key = self.read(entry[3][0]) if 3 in entry else Const(at, self._text(entry, 2))
            entries.append(Entry(key, self.read(entry[4][0]), bool(entry.get(5))))
        return MapNode(at, entries, self._text(fields, 1))

    def _fold(self, at: int, fields: dict[int, list[int | bytes]]) -> Fold:
        over, start, condition, step, result = (self.read(fields[n][0]) for n in (2, 4, 5, 6, 7))
        return Fold(at, self._text(fields, 1), over, self._text(fields, 3), start, condition, step, result)


# --- Writing -----------------------------------------------------------------------------------------------


def encode(node: Node) -> bytes:
    """A serialized `Any` of a ParsedExpr; positions are left out."""
    return _length(1, _TYPE_URL) + _length(2, _length(2, _Writer().write(node)))


def _length(number: int, data: bytes) -> bytes:
    return _write_varint(number << 3 | _LENGTH) + _write_varint(len(data)) + data


def _number(number: int, value: int) -> bytes:
    return _write_varint(number << 3 | _VARINT) + _write_varint(value % 2**64)


def _write_varint(value: int) -> bytes:
    written = bytearray()
    while value >= 0x80:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)


class _Writer:
    def __init__(self) -> None:
        self._ids = count(1)

    def write(self, node: Node) -> bytes:
        number, body = self._body(node)
        return _number(2, next(self._ids)) + _length(number, body)

    def _body(self, node: Node) -> tuple[int, bytes]:
        match node:
            case Const():
                return 3, self._const(node)
            case Ident() | Read():
                return 4, _length(1, node.name.encode())
            case Select():
                test = _number(3, 1) if node.is_test else b""
                return 5, _length(1, self.write(node.operand)) + _length(2, node.field.encode()) + test
            case Call():
                target = b"" if node.target is None else _length(1, self.write(node.target))
                args = b"".join(_length(3, self.write(arg)) for arg in node.args)
                return 6, target + _length(2, node.function.encode()) + args
            case ListNode():
                elements = b"".join(_length(1, self.write(element)) for element in node.elements)
                optional = b"".join(map(_write_varint, node.optional))
                return 7, elements + (_length(2, optional) if optional else b"")
            case MapNode():
                return 8, b"".join(_length(2, self._entry(entry)) for entry in node.entries)
            case Fold():
                return 9, self._fold(node)

    def _const(self, node: Const) -> bytes:
        value = node.value
        if value is None:
            return _number(1, 0)
        if isinstance(value, bool):
            return _number(2, int(value))
        if isinstance(value, int):
            return _number(4 if node.is_unsigned else 3, value)
        if isinstance(value, float):
            return _write_varint(5 << 3 | _FIXED64) + struct.pack("<d", value)
        return _length(6, value.encode()) if isinstance(value, str) else _length(7, value)

    def _entry(self, entry: Entry) -> bytes:
        optional = _number(5, 1) if entry.is_optional else b""
        key, value = _length(3, self.write(entry.key)), _length(4, self.write(entry.value))
        return _number(1, next(self._ids)) + key + value + optional

    def _fold(self, node: Fold) -> bytes:
        parts = [(2, node.over), (4, node.start), (5, node.condition), (6, node.step), (7, node.result)]
        names = _length(1, node.variable.encode()) + _length(3, node.accumulator.encode())
        return names + b"".join(_length(number, self.write(part)) for number, part in parts)
