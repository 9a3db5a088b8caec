"""The JSON Schemas that editors read, from the package or from the checkout that it runs in."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from pathlib import Path

from orchestrator.definition.model import Json

FLOW_SCHEMA = "schemas/flow.schema.json"
REHEARSAL_SCHEMA = "schemas/rehearsal.schema.json"


def read_schema(name: str) -> bytes:
    packaged = files("orchestrator") / name
    if packaged.is_file():
        return packaged.read_bytes()
    return (Path(__file__).parents[2] / name).read_bytes()


@cache
def load_flow_schema() -> Json:
    """Of flows; not to be changed by who asks."""
    return json.loads(read_schema(FLOW_SCHEMA))
