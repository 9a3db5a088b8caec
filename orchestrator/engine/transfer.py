"""Whole runs out of a store and into another, as JSON lines.

The first line is a header, then come the definitions, then one line a run with all its rows. Runs come in as
they went out: same ids, history and time; only what a worker had leased is free again, as if it had died.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from orchestrator.core.codec import decode, decode_event
from orchestrator.definition.model import Json
from orchestrator.engine.describe import time_text
from orchestrator.engine.engine import Engine
from orchestrator.errors import AlreadyStarted, InvalidValue, NotFound
from orchestrator.store.contract import DefinitionRow, RunRecord, Transaction
from orchestrator.store.packing import pack, unpack

FORMAT = 1
_KIND = "orchestrator-runs"
_IDS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Imported:
    run_count: int
    definition_count: int


def export_runs(engine: Engine, flow_ids: Sequence[str] = ()) -> Iterator[bytes]:
    """Lines; all runs of these flow ids, or of all. One snapshot. Raises NotFound."""
    with engine.store.reading() as reading:
        numbers = [number for flow_id in flow_ids for number in reading.run_numbers(flow_id)]
        for flow_id in flow_ids:
            if not reading.run_numbers(flow_id):
                raise NotFound(f"there is no run {flow_id}", flow_id=flow_id)
        header = {"kind": _KIND, "format": FORMAT, "exported_at": time_text(engine.clock.now())}
        yield msgspec.json.encode(header)
        for definition in reading.export_definitions():
            yield msgspec.json.encode({"definition": definition._asdict()})
        for number in sorted(numbers) if flow_ids else reading.run_numbers():
            yield msgspec.json.encode({"run": unpack(reading.export_run(number))})


def import_runs(engine: Engine, lines: Iterable[bytes]) -> Imported:
    """All of them or none. Raises InvalidValue with the line, AlreadyStarted for flow ids that are there."""
    imported: list[Imported] = []

    def read(transaction: Transaction, _: datetime) -> None:
        imported.append(_Import(transaction).read(lines))

    engine.committer.exclusively(read, "import")
    engine.wake()
    return imported[0]


class _Import:
    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self._own: set[str] = set()
        """Flow ids that this import has brought."""
        self._existing: dict[str, None] = {}
        self._counts = {"run": 0, "definition": 0}

    def read(self, lines: Iterable[bytes]) -> Imported:
        is_headed = False
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            document = _parse(line, number)
            if not is_headed:
                _demand_header(document, number)
                is_headed = True
                continue
            try:
                self._take(document)
            except (msgspec.MsgspecError, ValueError, TypeError, LookupError) as error:
                raise InvalidValue(f"line {number}: this is no exported run: {error}", line=number) from None
        if not is_headed:
            raise InvalidValue("there is nothing to import: the header line is missing")
        if self._existing:
            self._refuse()
        return Imported(self._counts["run"], self._counts["definition"])

    def _take(self, document: dict[str, Any]) -> None:
        nothing: tuple[str, Any] = ("", None)
        kind, content = next(iter(document.items()), nothing)
        if kind == "definition":
            row = [content[name] for name in DefinitionRow._fields]
            self._transaction.import_definition(msgspec.convert(row, DefinitionRow))
        elif kind == "run":
            self._take_run(pack(content))
        else:
            raise ValueError("a line holds a `run` or a `definition`")
        self._counts[kind] += 1

    def _take_run(self, record: RunRecord) -> None:
        (row,) = record["runs"]
        flow_id = row["flow_id"]
        if flow_id not in self._own:
            if self._transaction.find_latest(flow_id) is not None:
                self._existing[flow_id] = None
                return
            self._own.add(flow_id)
        for step in record["steps"]:
            step["is_lost"] = int(bool(step["is_lost"]) or step["worker"] is not None)
            step["worker"] = step["turn"] = None
            step["queue"] = 0
        number = self._transaction.next_run_number()
        self._transaction.import_run(number, record)
        self._check(number)

    def _check(self, number: int) -> None:
        """What cannot be read later is refused now."""
        head = self._transaction.find_run(number)
        assert head is not None
        if self._transaction.definition(head.definition) is None:
            raise ValueError(f"the definition {head.definition} of {head.flow_id} is missing")
        self._transaction.load(head)
        for row in self._transaction.history(number):
            decode(row.body)
            if row.event is not None:
                decode_event(row.event)

    def _refuse(self) -> None:
        ids = list(self._existing)
        more = f" and {len(ids) - _IDS_SHOWN} more" if len(ids) > _IDS_SHOWN else ""
        raise AlreadyStarted(
            f"nothing was imported: this store already has runs of {', '.join(ids[:_IDS_SHOWN])}{more}",
            flow_ids=ids,
        )


def _parse(line: bytes, number: int) -> dict[str, Any]:
    try:
        document: Json = msgspec.json.decode(line)
    except msgspec.DecodeError as error:
        raise InvalidValue(f"line {number}: {error}", line=number) from None
    except RecursionError:
        raise InvalidValue(f"line {number}: JSON that is nested too deeply", line=number) from None
    if not isinstance(document, dict):
        raise InvalidValue(f"line {number}: a JSON object is needed", line=number)
    return document


def _demand_header(document: dict[str, Any], number: int) -> None:
    if document.get("kind") != _KIND:
        raise InvalidValue(f"line {number}: this is no export of orchestrator", line=number)
    if document.get("format") != FORMAT:
        raise InvalidValue(
            f"line {number}: format {document.get('format')} of exports is not known to this release "
            f"({FORMAT} is)",
            line=number,
        )
