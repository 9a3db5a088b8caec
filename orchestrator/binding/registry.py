"""The handlers of a flow, found by name in its modules."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path as FilePath
from types import ModuleType

from orchestrator.binding.check import MISFIT, UNKNOWN, BindingProblem, Unbindable, bind
from orchestrator.binding.importing import Imported, import_module
from orchestrator.binding.invoke import BoundHandler
from orchestrator.binding.method import Method, MethodKind, methods_of
from orchestrator.definition.model import Flow, Path
from orchestrator.definition.nearness import nearest
from orchestrator.errors import DefinitionInvalid

_ABSENT = object()


class Bindings:
    """All handlers of one flow, imported and checked. `search_path` are directories to import from."""

    def __init__(self, flow: Flow, search_path: Iterable[str | FilePath] = (".",)) -> None:
        self._flow = flow
        self._handlers: dict[tuple[MethodKind, str], BoundHandler] = {}
        self._problems: list[BindingProblem] = []
        self._imports: dict[str, Imported] = {}
        self._has_failed_modules = False
        make_importable(search_path)
        importlib.invalidate_caches()
        self._import_declared()
        for method in methods_of(flow):
            self._bind(method)

    def problems(self) -> list[BindingProblem]:
        """Everything that keeps handlers from being bound, in the order of the definition."""
        return list(self._problems)

    def imports(self) -> dict[str, Imported]:
        """What came of importing each module that the flow names."""
        return dict(self._imports)

    def handlers(self) -> Iterator[BoundHandler]:
        """All that are bound, in the order of the definition."""
        yield from self._handlers.values()

    def execute(self, step: str) -> BoundHandler:
        """The handler of a step's execute, or of the flow's on_timeout."""
        return self._handler((MethodKind.EXECUTE, step), (MethodKind.ON_TIMEOUT, step))

    def wait_for(self, step: str) -> BoundHandler:
        return self._handler((MethodKind.WAIT_FOR, step))

    def rpc(self, name: str) -> BoundHandler:
        return self._handler((MethodKind.RPC, name))

    def _handler(self, *keys: tuple[MethodKind, str]) -> BoundHandler:
        for key in keys:
            if key in self._handlers:
                return self._handlers[key]
        kind, name = keys[0]
        about = "".join(f"; {problem.message} ({problem.help})" for problem in self._problems)
        raise DefinitionInvalid(f"no handler is bound for the {kind} of {name}{about}")

    def _bind(self, method: Method) -> None:
        try:
            bound = bind(method, self._find(method.handler.name))
        except Unbindable as problem:
            if ":" in method.handler.name or not self._has_failed_modules:
                self._report(method.path, problem)
        except Exception as error:  # what an object of the user raises when it is looked at
            name, text = method.handler.name, f"{type(error).__name__}: {error}"
            self._report(
                method.path, Unbindable(MISFIT, f"`{name}` cannot be called: {text}", "write a function")
            )
        else:
            self._handlers[method.kind, method.name] = bound

    def _report(self, path: Path, problem: Unbindable) -> None:
        self._problems.append(BindingProblem(path, problem.message, problem.advice, problem.code))

    def _import_declared(self) -> None:
        """A module that does not import is one problem; the handlers that may be in it are not reported."""
        for position, name in enumerate(self._flow.handlers):
            module = self._module(name)
            if isinstance(module, Unbindable):
                path: Path = ("handlers",) if len(self._flow.handlers) == 1 else ("handlers", position)
                self._report(path, module)
                self._has_failed_modules = True

    def _find(self, name: str) -> object:
        module_name, colon, attribute = name.partition(":")
        if colon:
            return self._find_in([module_name], attribute, name)
        if not self._flow.handlers:
            raise Unbindable(
                UNKNOWN,
                f"the handler `{name}` has no module to be looked up in",
                "declare `handlers: some.module` at the top of the flow, or write `some.module:" + name + "`",
            )
        return self._find_in(self._flow.handlers, name, name)

    def _find_in(self, modules: Iterable[str], attribute: str, name: str) -> object:
        names: set[str] = set()
        for module_name in modules:
            module = self._module(module_name)
            if isinstance(module, Unbindable):
                if ":" in name:
                    raise module
                continue
            found = _look_up(module, attribute)
            if found is not _ABSENT:
                return found
            names |= _functions_of(module)
        places = " or ".join(f"`{module}`" for module in modules)
        match = nearest(attribute, names)
        advice = f"did you mean `{match}`?" if match else _how_to_write(attribute)
        raise Unbindable(UNKNOWN, f"there is no function `{attribute}` in {places}", advice)

    def _module(self, name: str) -> ModuleType | Unbindable:
        if name not in self._imports:
            self._imports[name] = import_module(name)
        imported = self._imports[name]
        if imported.module is not None:
            return imported.module
        assert imported.failure is not None
        return Unbindable(UNKNOWN, imported.failure.message, imported.failure.advice)


def make_importable(directories: Iterable[str | FilePath]) -> None:
    """Put the directories before everything else that Python imports from, the first one first."""
    for directory in reversed([str(FilePath(each).resolve()) for each in directories]):
        if directory not in sys.path:
            sys.path.insert(0, directory)


def _look_up(module: ModuleType, attribute: str) -> object:
    """`name`, or `name.method`; what raises while it is looked up counts as absent."""
    found: object = module
    for part in attribute.split("."):
        try:
            found = getattr(found, part, _ABSENT)
        except Exception:
            return _ABSENT
    return found


def _how_to_write(attribute: str) -> str:
    *owners, name = attribute.split(".")
    return f"write `def {name}(…)` there" if not owners else f"write `{name}` into `{'.'.join(owners)}`"


def _functions_of(module: ModuleType) -> set[str]:
    return {
        name
        for name, value in vars(module).items()
        if callable(value) and not isinstance(value, type) and not name.startswith("_")
    }
