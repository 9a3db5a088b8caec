"""`import orchestrator` gives the public names, and costs nothing until they are used."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import pytest

import orchestrator


@pytest.mark.parametrize("name", orchestrator.__all__)
def test_every_public_name_can_be_used(name: str) -> None:
    value = getattr(orchestrator, name)
    assert value.__module__.startswith("orchestrator.")
    assert name in dir(orchestrator)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Contxt'"):
        _ = orchestrator.Contxt


def _modules_after(statement: str) -> set[str]:
    code = f"import sys; before = set(sys.modules)\n{statement}\nprint(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {module.split(".")[0] for module in done.stdout.split()}


def test_importing_the_package_imports_only_the_standard_library() -> None:
    assert _modules_after("import orchestrator") - sys.stdlib_module_names == {"orchestrator"}


def test_handlers_import_no_heavy_library() -> None:
    loaded = _modules_after("from orchestrator import Context, choose, any_of, RetryAfter")
    assert not loaded & {"sqlalchemy", "networkx", "jsonschema", "yaml", "typer", "rich", "cel_expr_python"}


def test_what_methods_say_that_they_raise_can_be_imported() -> None:
    public = (orchestrator.Client, orchestrator.Worker, orchestrator.Engine, orchestrator.Catalogue)
    texts = [inspect.getdoc(found) or "" for owner in public for found in vars(owner).values()]
    raised = {
        name
        for text in texts
        for said in re.findall(r"[Rr]aises ([^.]*)", text)
        for name in re.findall(r"\b[A-Z]\w+\b", said)
    }
    assert {"NotExternal", "UsageError", "Blocked", "StoreError"} <= raised
    assert raised - set(orchestrator.__all__) == set()


def test_a_name_is_listed_once_also_when_it_has_been_used() -> None:
    assert orchestrator.Client is not None
    assert len(dir(orchestrator)) == len(set(dir(orchestrator)))
