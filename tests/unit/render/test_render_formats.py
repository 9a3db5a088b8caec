"""Every format of every theme and direction; what is drawn stays within the page."""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from fontTools.ttLib.tables.otBase import BaseTTXConverter

from orchestrator.definition.catalogue import load
from orchestrator.errors import UsageError
from orchestrator.render.image import Format, render
from orchestrator.render.style import LAYERS
from tests.support.drawn_flows import CJK, REVIEW, long_flow, read

ROOT = Path(__file__).parents[3]
FLOWS = ROOT / "flows"
EXAMPLES = sorted(FLOWS.rglob("*.flow.yaml"))
GOLDEN = ROOT / "tests" / "golden" / "dot"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_dot_is_that_of_the_golden_file(path: Path) -> None:
    text = render(load(path), "dot").decode()
    golden = (GOLDEN / path.relative_to(FLOWS)).with_name(path.name.replace(".flow.yaml", ".dot"))
    if os.environ.get("UPDATE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_every_golden_file_has_its_flow() -> None:
    names = {path.relative_to(GOLDEN).with_suffix("") for path in GOLDEN.rglob("*.dot")}
    assert names == {Path(str(path.relative_to(FLOWS)).removesuffix(".flow.yaml")) for path in EXAMPLES}


@pytest.mark.parametrize(
    ("format", "magic"),
    [
        ("svg", b"<svg "),
        ("png", b"\x89PNG"),
        ("pdf", b"%PDF"),
        ("dot", b"digraph "),
        ("mermaid", b"flowchart TB"),
    ],
)
def test_output_is_of_its_format_and_byte_stable(format: Format, magic: bytes) -> None:
    flow = load(ROOT / "flows" / "order_payment.flow.yaml")
    picture = render(flow, format)
    assert picture.startswith(magic)
    assert render(flow, format) == picture


def test_a_pdf_takes_from_its_font_only_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables of layout are large: reading them took two thirds of the time."""
    decompile, taken = BaseTTXConverter.decompile, []

    def noting(table: Any, *rest: Any) -> None:
        taken.append(table.tableTag)
        decompile(table, *rest)

    monkeypatch.setattr(BaseTTXConverter, "decompile", noting)
    assert render(load(ROOT / "flows" / "order_payment.flow.yaml"), "pdf")
    assert taken and not {"GDEF", "GPOS", "GSUB"} & set(taken)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("direction", ["TB", "LR"])
@pytest.mark.parametrize("text", [REVIEW, CJK, long_flow(30)], ids=["review", "cjk", "30 steps"])
def test_nothing_is_cut_and_no_cards_overlap(text: str, direction: str, theme: str) -> None:
    picture = render(read(text), "svg", theme=theme, direction=direction, layers=LAYERS, legend=True)  # type: ignore[arg-type]
    root = ET.fromstring(picture)
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    for label in root.iter(f"{SVG}text"):
        x, y = float(label.attrib["x"]), float(label.attrib["y"])
        wide = float(label.attrib.get("textLength", "0"))
        start = x - wide / 2 if label.attrib.get("text-anchor") else x
        assert left <= start
        assert start + wide <= left + width
        assert top <= y - float(label.attrib["font-size"])
        assert y <= top + height
    frames = [frame.attrib for frame in root.iter(f"{SVG}rect") if frame.attrib.get("class") == "frame"]
    boxes = [tuple(float(frame[key]) for key in ("x", "y", "width", "height")) for frame in frames]
    for number, (x, y, wide, high) in enumerate(boxes):
        for x2, y2, wide2, high2 in boxes[number + 1 :]:
            assert x + wide <= x2 or x2 + wide2 <= x or y + high <= y2 or y2 + high2 <= y


def test_text_of_a_card_stays_inside_its_frame() -> None:
    root = ET.fromstring(render(read(REVIEW), "svg", layers=LAYERS))
    cards = [group for group in root.iter(f"{SVG}g") if group.attrib.get("class", "").startswith("card ")]
    assert len(cards) == 7
    for card in cards:
        frame = next(rect for rect in card.iter(f"{SVG}rect") if rect.attrib.get("class") == "frame").attrib
        right = float(frame["x"]) + float(frame["width"])
        for label in card.iter(f"{SVG}text"):
            assert float(label.attrib["x"]) + float(label.attrib.get("textLength", "0")) <= right


def test_every_text_of_an_svg_keeps_its_measured_width_in_any_font() -> None:
    root = ET.fromstring(render(read(REVIEW), "svg", layers=LAYERS, legend=True))
    short = {label.text: label for label in root.iter(f"{SVG}text") if len(label.text or "") <= 3}
    assert short["ok:"].attrib["textLength"] == "15.81"
    assert "textLength" not in short.pop("•").attrib, "a sign that was only guessed is not bent"
    for label in root.iter(f"{SVG}text"):
        if label.text != "•":
            assert float(label.attrib["textLength"]) > 0
            assert label.attrib["lengthAdjust"] == "spacingAndGlyphs"


def test_svg_prefers_a_narrow_font_to_the_wide_one_for_viewers_that_cannot_fit_text() -> None:
    families = ET.fromstring(render(read(REVIEW), "svg")).attrib["font-family"]
    assert families.startswith("Inter, ")
    assert families.endswith(", 'DejaVu Sans Condensed', sans-serif")


def test_svg_names_the_nodes_of_the_graph() -> None:
    text = render(load(ROOT / "flows" / "contract_edit.flow.yaml"), "svg").decode()
    for ref in ("step:EditContract", "wait:EnterContractEdit", "channel:contractEditToken"):
        assert f'data-ref="{ref}"' in text
    assert 'id="decision-EditContract-2"' in text
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids))


def test_layers_leave_out_what_is_not_asked_for() -> None:
    flow = load(ROOT / "flows" / "contract_edit.flow.yaml")
    text = render(flow, "svg", layers=frozenset({"control"})).decode()
    assert "on failure" not in text
    assert "wire publish" not in text
    assert 'class="link go_to"' in text
    assert 'class="link' not in render(flow, "svg", layers=frozenset({"channels"})).decode()


def test_attributes_are_drawn_in_their_layer_only() -> None:
    flow = load(ROOT / "flows" / "shopping_cart.flow.yaml")
    assert "rail attribute" not in render(flow, "svg").decode()
    assert "rail attribute" in render(flow, "svg", layers=LAYERS).decode()


def test_text_is_escaped() -> None:
    flow = read('flow: F\ndescription: a < b & "c"\nstart: S\nsteps: {S: {description: <b>, dead_end: true}}')
    ET.fromstring(render(flow, "svg"))
    assert "a &lt; b &amp;" in render(flow, "dot").decode()
    assert "#lt;b#gt;" in render(flow, "mermaid").decode()


def test_flow_without_steps_is_drawn() -> None:
    flow = read(
        "flow: F\nattributes: {x: string}\nrpcs: {get: {output: string or none, returns: '${attributes.x}'}}"
    )
    assert b"a client calls" in render(flow, "svg")


@pytest.mark.parametrize(
    "options", [{"theme": "pink"}, {"direction": "UP"}, {"layers": frozenset({"sky"})}], ids=str
)
def test_unknown_option_is_refused_with_the_known_ones(options: dict[str, object]) -> None:
    flow = load(ROOT / "flows" / "order_payment.flow.yaml")
    with pytest.raises(UsageError, match="one of:"):
        render(flow, "svg", **options)  # type: ignore[arg-type]


def test_a_picture_begins_where_its_first_card_does() -> None:
    """Straightened arrows move cards to the right; what they leave is no part of the page."""
    steps = [
        f"  W{n}: {{execute: h, on_failure: U{n}, go_to: W{n + 1}}}\n"
        f"  U{n}: {{execute: h, on_failure: Lost, go_to: {f'U{n - 1}' if n else 'Lost'}}}\n"
        for n in range(8)
    ]
    flow = read(
        "flow: Undoing\nstart: W0\nsteps:\n"
        + "".join(steps)
        + "  W8: {graceful_complete: }\n  Lost: {force_fail: undone}\n"
    )
    root = ET.fromstring(render(flow, "svg"))
    left, _, _, _ = map(float, root.attrib["viewBox"].split())
    drawn = [
        float(x)
        for path in root.iter(f"{SVG}path")
        for x, _ in re.findall(r"(-?[\d.]+)[ ,](-?[\d.]+)", path.attrib["d"])
    ]
    assert min(drawn) - left == pytest.approx(28, abs=2)


def test_every_line_of_a_long_name_is_bold_in_mermaid() -> None:
    name = "CollectSettlementInstructionsFromAllSubsidiaries"
    text = render(
        read(f"flow: A\nstart: {name}\nsteps: {{{name}: {{graceful_complete: }}}}\n"), "mermaid"
    ).decode()
    assert "**CollectSettlementInstructionsFromAll**<br/>**Subsidiaries**" in text
