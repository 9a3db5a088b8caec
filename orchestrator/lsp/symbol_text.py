"""A name of a flow in a few lines of Markdown: what it is, and who has to do with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from orchestrator.definition.model import Json, Path
from orchestrator.definition.symbols import Mention, Symbol, SymbolKind, SymbolTable
from orchestrator.definition.type_text import compact, spell

_MOVES = ("go_to", "go_to_many", "on_failure")


def describe_symbol(table: SymbolTable, symbol: Symbol) -> str:
    """Empty where there is nothing more to say than the name."""
    write = _WRITERS.get(symbol.kind)
    declaration = table.declaration(symbol)
    if symbol.kind is SymbolKind.CHOICE:
        return f'**choice** `{symbol.name}`\n\nTaken when the handler returned `choose("{symbol.name}", …)`.'
    if declaration is None:
        if write is None or symbol.kind in (SymbolKind.RESULT, SymbolKind.ELEMENT, SymbolKind.LET):
            return ""
        return f"**{symbol.kind.value}** `{symbol.name}`\n\nIt is not declared in this flow."
    parts = write(table, symbol, declaration) if write is not None else []
    return "\n\n".join(part for part in parts if part)


def type_words(node: Json) -> str:
    """A type as the author wrote it; of a schema, on one line."""
    text = node if isinstance(node, str) else spell(node)
    return text if len(text) <= 200 else text[:199] + "…"


def _step(table: SymbolTable, symbol: Symbol, declaration: Mention) -> list[str]:
    path: Path = ("steps", symbol.name)
    node = _mapping(table.node(path))
    facts = [f"input: `{type_words(node['input'])}`"] if "input" in node else []
    facts += [f"waits: {text}" for text in _waits(node.get("wait_for"))]
    execute = node.get("execute")
    handler = execute.get("handler") if isinstance(execute, dict) else execute
    facts += [f"handler: `{handler}`"] if handler is not None else []
    facts += [f"→ `{name}` ({roles})" for name, roles in _moves_out(table, path)]
    facts += [f"← `{name}` ({roles})" for name, roles in _moves_in(table, symbol)]
    if table.node(("start",)) == symbol.name:
        facts.append("← start of the flow")
    return [_head(symbol), _text(node), _listed(facts)]


def _channel(table: SymbolTable, symbol: Symbol, declaration: Mention) -> list[str]:
    node = table.node(("channels", symbol.name))
    facts = _roles(table, symbol, {"published by": ("publish",)})
    conditions = ("until", "any_of", "all_of", "conditions")
    facts += _roles(
        table, symbol, {"awaited by": conditions, "looked at by": ("expression", "channels", "loads")}
    )
    return [_head(symbol, node), _text(node), _marks(node), _listed(facts)]


def _attribute(table: SymbolTable, symbol: Symbol, declaration: Mention) -> list[str]:
    node = table.node(("attributes", symbol.name))
    about = {"set by": ("set",), "read by": ("expression", "loads"), "locked by": ("locks",)}
    return [_head(symbol, node), _text(node), _marks(node), _listed(_roles(table, symbol, about))]


def _join(table: SymbolTable, symbol: Symbol, declaration: Mention) -> list[str]:
    node = table.node(("joins", symbol.name))
    conditions = ("until", "any_of", "all_of", "conditions")
    about = {"opened by": ("join",), "reported to by": ("report",), "awaited by": conditions}
    return [_head(symbol, node), _text(node), _listed(_roles(table, symbol, about))]


def _rpc(table: SymbolTable, symbol: Symbol, declaration: Mention) -> list[str]:
    path: Path = ("rpcs", symbol.name)
    node = _mapping(table.node(path))
    facts = [f"{key}: `{type_words(node[key])}`" for key in ("input", "output") if key in node]
    facts += [f"handler: `{node['handler']}`"] if "handler" in node else []
    facts += [f"→ `{name}` ({roles})" for name, roles in _moves_out(table, path)]
    return [_head(symbol), _text(node), _listed(facts)]


def _flow(table: SymbolTable, symbol: Symbol, declaration: Mention) -> list[str]:
    node = _mapping(table.document)
    facts = [f"{key}: `{type_words(node[key])}`" for key in ("input", "output") if key in node]
    counts = {key: len(_mapping(node.get(key))) for key in ("steps", "rpcs", "channels", "attributes")}
    facts += (
        [", ".join(f"{count} {key}" for key, count in counts.items() if count)]
        if any(counts.values())
        else []
    )
    return [_head(symbol), _text(node), _listed(facts)]


def _type(table: SymbolTable, symbol: Symbol, declaration: Mention) -> list[str]:
    node = table.node(("types", symbol.name))
    properties = _mapping(_mapping(node).get("properties"))
    required = _mapping(node).get("required") or []
    facts = [
        f"`{name}`: `{type_words(schema)}`{'' if name in required else ' (may be absent)'}"
        for name, schema in properties.items()
    ]
    return [_head(symbol), _text(node), _listed(facts) if facts else f"`{type_words(node)}`"]


def _condition(table: SymbolTable, symbol: Symbol, declaration: Mention) -> list[str]:
    node = table.node(declaration.path)
    node = node if isinstance(node, dict) else table.node(declaration.path[:-1])
    text = condition_text(_mapping(node))
    default = "" if declaration.is_written else "Its id is the default one; `id:` gives another."
    return [_head(symbol), f"waits for {text}" if text else "", default]


def _value(table: SymbolTable, symbol: Symbol, declaration: Mention) -> list[str]:
    if symbol.kind is SymbolKind.LET:
        return [f"`let {symbol.name}: {plain(table.node(declaration.path))}`"]
    if symbol.kind is SymbolKind.RESULT:
        return ["What the handler returned."]
    over = table.node((*symbol.scope, "for_each"))
    return [f"Each element of `{plain(over)}`."]


_WRITERS: Mapping[SymbolKind, Callable[[SymbolTable, Symbol, Mention], list[str]]] = {
    SymbolKind.FLOW: _flow,
    SymbolKind.STEP: _step,
    SymbolKind.CHANNEL: _channel,
    SymbolKind.ATTRIBUTE: _attribute,
    SymbolKind.JOIN: _join,
    SymbolKind.RPC: _rpc,
    SymbolKind.TYPE: _type,
    SymbolKind.CONDITION: _condition,
    SymbolKind.LET: _value,
    SymbolKind.RESULT: _value,
    SymbolKind.ELEMENT: _value,
    SymbolKind.LOCAL: lambda table, symbol, declaration: [
        f"**local** `{symbol.name}`: `{plain(table.node(declaration.path))}`"
    ],
}


# --- Parts -------------------------------------------------------------------------------------------------


def condition_text(node: Mapping[str, Json]) -> str:
    """`channel answer (for 1)`."""
    kind = next((key for key in ("channel", "timer", "timer_at", "subflow", "join") if key in node), None)
    if kind is None:
        return ""
    more = [f"{key} {node[key]}" for key in ("for", "at_least", "at_most", "need", "key") if key in node]
    return f"{kind} `{node[kind]}`" + (f" ({', '.join(more)})" if more else "")


def _waits(node: Json) -> list[str]:
    node = _mapping(node)
    found = []
    for key in ("until", "any_of", "all_of", "conditions"):
        below = node.get(key)
        entries = below if isinstance(below, list) else [below]
        if key == "conditions":
            entries = list(_mapping(below).values())
        texts = [text for entry in entries if (text := condition_text(_mapping(entry)))]
        found += [f"{key.replace('_', ' ')} {'; '.join(texts)}"] if texts else []
    return found


def _moves_out(table: SymbolTable, owner: Path) -> list[tuple[str, str]]:
    return _grouped(
        (mention.symbol.name, mention.role)
        for mention in table.mentions
        if mention.owner == owner and mention.symbol.kind is SymbolKind.STEP and mention.role in _MOVES
    )


def _moves_in(table: SymbolTable, symbol: Symbol) -> list[tuple[str, str]]:
    return _grouped(
        (owner_name(mention), mention.role)
        for mention in table.of(symbol)
        if mention.owner and mention.role in _MOVES
    )


def _roles(table: SymbolTable, symbol: Symbol, roles: Mapping[str, Iterable[str]]) -> list[str]:
    """`published by: A, B`."""
    found = []
    for word, keys in roles.items():
        wanted = tuple(keys)
        owners = dict.fromkeys(
            f"`{owner_name(mention)}`"
            for mention in table.of(symbol)
            if mention.owner and mention.role in wanted
        )
        found += [f"{word} {', '.join(owners)}"] if owners else []
    return found


def owner_name(mention: Mention) -> str:
    return str(mention.owner[-1]) if mention.owner else ""


def _grouped(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    found: dict[str, dict[str, None]] = {}
    for name, role in pairs:
        found.setdefault(name, {})[role] = None
    return [(name, ", ".join(roles)) for name, roles in found.items()]


def plain(node: Json) -> str:
    return node if isinstance(node, str) else compact(node)


def _head(symbol: Symbol, declared: Json = None) -> str:
    type_node = declared.get("type") if isinstance(declared, dict) else declared
    typed = f": `{type_words(type_node)}`" if type_node is not None else ""
    return f"**{symbol.kind.value}** `{symbol.name}`{typed}"


def _marks(node: Json) -> str:
    keys = ("map", "external", "delivery", "capacity", "leftover", "initial", "index", "sync")
    found = [f"`{key}: {compact(node[key])}`" for key in keys if key in _mapping(node)]
    return " ".join(found)


def _text(node: Json) -> str:
    return str(_mapping(node).get("description") or "").strip()


def _mapping(node: Json) -> dict[str, Json]:
    return node if isinstance(node, dict) else {}


def _listed(facts: Iterable[str]) -> str:
    return "\n".join(f"- {fact}" for fact in facts)
