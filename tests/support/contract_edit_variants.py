"""The variants of ContractEditFlow whose verdicts are known: edits of its text, by name.

What a correct verifier says of each with three edits stands in `tests/oracle/test_section_8.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECTION = ("EnterContractEdit", "EditContract", "SaveContractEdit", "ReleaseContractEditToken")
"""Steps whose executions hold the token."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Replaces the first `old` after `after`."""

    old: str
    new: str
    after: str = ""

    def apply(self, text: str) -> str:
        assert self.after in text, f"{self.after!r} is not there"
        begin = text.index(self.after)
        assert self.old in text[begin:], f"{self.old!r} is not there"
        return text[:begin] + text[begin:].replace(self.old, self.new, 1)


def text_of(variant: str) -> str:
    text = (ROOT / "flows" / "contract_edit.flow.yaml").read_text(encoding="utf-8")
    for edit in VARIANTS[variant]:
        text = edit.apply(text)
    return text


_WITHDRAW = "  EditContract:"
_SAVE = "  SaveContractEdit:"
_RELEASE = "  ReleaseContractEditToken:"
_PUBLISHES = 'publish: {contractEditFinished: "${record}", contractEditToken: contract}'
_NO_TOKEN = 'publish: {contractEditFinished: "${record}"}'
_TWO_TOKENS = """publish:
      - {channel: contractEditFinished, value: "${record}"}
      - {channel: contractEditToken, value: contract}
      - {channel: contractEditToken, value: contract}"""
_WITHDRAWN_TWICE = """        publish:
          - channel: contractEditFinished
            value:
              reviewer: ${started_edit.reviewer}
              outcome: withdrawn
              started_at_millis: ${started_edit.started_at_millis}
              finished_at_millis: ${started_edit.started_at_millis}
          - {channel: contractEditToken, value: contract}
          - {channel: contractEditToken, value: contract}
"""
_WITHDRAWN = """        publish:
          contractEditFinished:                     # a mapping whose leaves are expressions
            reviewer: ${started_edit.reviewer}
            outcome: withdrawn
            started_at_millis: ${started_edit.started_at_millis}
            finished_at_millis: ${started_edit.started_at_millis}
          contractEditToken: contract
"""
_COUNT = 'for: "${input}"'


def _canceller(victim: str) -> tuple[Edit, ...]:
    """A step beside the edits that cancels after a while."""
    return (
        Edit(
            "      - step: FinishContractEdits\n",
            "      - step: CancelLate\n      - step: FinishContractEdits\n",
        ),
        Edit(
            "  EnterContractEdit:\n",
            "  CancelLate:\n"
            "    wait_for: {until: {timer: 1h}}\n"
            f"    cancel: [{victim}]\n"
            "    dead_end: true\n\n"
            "  EnterContractEdit:\n",
        ),
    )


_SWALLOWS = (
    Edit("on_failure: ReleaseContractEditToken", "on_failure: Swallow", after="  EnterContractEdit:"),
    Edit(
        _RELEASE,
        "  Swallow:\n"
        "    input: ContractEdit\n"
        "    execute: failed_edit_record\n"
        "    result: {name: record, type: ContractEditRecord}\n"
        f"    {_NO_TOKEN}\n"
        "    dead_end: true\n\n" + _RELEASE,
    ),
)

VARIANTS: dict[str, tuple[Edit, ...]] = {
    "correct": (),
    "no token publish on EditContract withdraw": (
        Edit("          contractEditToken: contract\n", "", after=_WITHDRAW),
    ),
    "no token publish in SaveContractEdit": (Edit(_PUBLISHES, _NO_TOKEN, after=_SAVE),),
    "no token publish in ReleaseContractEditToken": (Edit(_PUBLISHES, _NO_TOKEN, after=_RELEASE),),
    "no seed in StartContractEdits": (Edit("    publish: {contractEditToken: contract}\n", ""),),
    "Enter's failure routed to a step that swallows the token": _SWALLOWS,
    "no report in Release": (Edit(_PUBLISHES, "publish: {contractEditToken: contract}", after=_RELEASE),),
    "Save publishes token twice": (Edit(_PUBLISHES, _TWO_TOKENS, after=_SAVE),),
    "withdraw publishes twice": (Edit(_WITHDRAWN, _WITHDRAWN_TWICE),),
    "Release publishes twice": (Edit(_PUBLISHES, _TWO_TOKENS, after=_RELEASE),),
    "Start seeds two": (
        Edit(
            "publish: {contractEditToken: contract}",
            "publish: [{channel: contractEditToken, value: a}, {channel: contractEditToken, value: b}]",
        ),
    ),
    "token released in Edit and Save": (
        Edit(
            '      - go_to: {step: SaveContractEdit, input: "${started_edit}"}',
            "      - publish: {contractEditToken: contract}\n"
            '        go_to: {step: SaveContractEdit, input: "${started_edit}"}',
        ),
    ),
    "no failure route on Save": (Edit("    on_failure: ReleaseContractEditToken\n", "", after=_SAVE),),
    "a timer step cancels EditContract": _canceller("EditContract"),
    "a timer step cancels EnterContractEdit": _canceller("EnterContractEdit"),
    "join waits N+1": (Edit(_COUNT, 'for: "${input + 1}"'),),
    "join waits N-1": (Edit(_COUNT, 'for: "${input - 1}"'),),
}
