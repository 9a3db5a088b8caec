"""How wide text is, and where it breaks. Widths are those of Inter at optical size 14, in 1/1000 em."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_ASCII_WIDTHS = {
    400: (
        "281 288 466 633 642 982 644 300 365 365 501 662 288 460 288 360 631 407 610 618 646 593 620 566 "
        "619 620 288 302 662 662 662 511 966 690 654 730 722 601 590 746 743 269 571 672 565 903 753 765 "
        "639 765 644 642 646 744 690 985 682 679 629 365 360 365 471 456 323 562 612 571 612 583 370 613 "
        "591 242 242 549 242 876 591 600 612 612 376 528 327 591 562 818 546 562 552 426 333 426 662 "
    ),
    600: (
        "252 321 523 644 650 1004 663 326 373 373 540 673 319 465 319 379 660 423 623 636 666 612 640 "
        "576 640 640 319 329 673 673 673 543 999 728 659 737 722 605 588 749 746 277 580 703 565 922 759 "
        "769 645 773 652 650 660 736 728 1020 720 713 652 373 379 373 481 469 351 574 624 583 624 591 "
        "389 625 612 262 262 569 262 900 612 609 624 624 397 549 353 612 587 839 569 588 566 455 359 455 "
        "673 "
    ),
    700: (
        "237 338 551 649 655 1016 672 339 377 377 559 679 334 468 334 388 674 431 629 646 676 622 649 "
        "582 651 649 334 343 679 679 679 560 1016 747 662 740 722 607 587 750 747 281 584 719 565 932 "
        "762 771 648 777 657 655 667 732 747 1038 738 731 664 377 388 377 487 476 365 581 630 588 630 "
        "596 398 632 623 271 271 580 271 913 623 613 630 630 407 560 366 623 600 850 580 602 573 469 372 "
        "469 679 "
    ),
}
"""By weight: the advance of each printable ASCII character, from the space on."""

_WIDTHS = {weight: tuple(map(int, text.split())) for weight, text in _ASCII_WIDTHS.items()}
_OTHER_WIDTH = 680
_WIDE = frozenset("WF")


@lru_cache(maxsize=4096)
def text_width(text: str, size: float, weight: int = 400) -> float:
    """Width in points of one line."""
    widths = _WIDTHS[weight]
    total = 0.0
    for character in text:
        code = ord(character) - 32
        if 0 <= code < len(widths):
            total += widths[code]
        elif unicodedata.combining(character):
            continue
        else:
            total += _wide_width(character)
    return total * size / 1000


def _wide_width(character: str) -> int:
    if "가" <= character <= "힣":
        return 920
    return 1000 if is_wide(character) or character in "→…—" else _OTHER_WIDTH


def is_wide(character: str) -> bool:
    """True for characters as wide as high: Chinese, Japanese, Korean, emoji."""
    return unicodedata.east_asian_width(character) in _WIDE


def wrap(text: str, width: float, size: float, weight: int = 400, max_lines: int = 99) -> list[str]:
    """Lines no wider than `width` points; what does not fit `max_lines` ends in an ellipsis."""
    lines: list[str] = []
    line = ""
    for piece in _pieces(text):
        if text_width((line + piece).rstrip(), size, weight) <= width or not line.strip():
            line += piece
        else:
            lines.append(line.rstrip())
            line = piece.lstrip()
        while text_width(line.rstrip(), size, weight) > width:
            head = _longest_prefix(line, width, size, weight)
            lines.append(head)
            line = line[len(head) :]
    if line.strip():
        lines.append(line.rstrip())
    if len(lines) > max_lines:
        lines = lines[:max_lines]
        lines[-1] = shorten(lines[-1] + " …", width, size, weight)
    return lines


def shorten(text: str, width: float, size: float, weight: int = 400) -> str:
    """One line no wider than `width`, its end replaced by an ellipsis where needed."""
    if text_width(text, size, weight) <= width:
        return text
    text = text.removesuffix(" …")
    while text and text_width(text + "…", size, weight) > width:
        text = text[:-1]
    return text.rstrip() + "…"


def _pieces(text: str) -> list[str]:
    """Breakable pieces: words with the white space after them, single wide characters, ends of operators."""
    pieces: list[str] = []
    for word in re.findall(r"\S+\s*|\s+", text.replace("\n", " ")):
        start = 0
        for position, character in enumerate(word):
            if is_wide(character) or (character in ",._/(" and position - start > 12):
                pieces.append(word[start : position + 1])
                start = position + 1
        if start < len(word):
            pieces.append(word[start:])
    return pieces


_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=_)(?=[^_])")


def _longest_prefix(line: str, width: float, size: float, weight: int) -> str:
    """As much as fits; of a name, up to one of its words, if that is more than half of it."""
    end = len(line)
    while end > 1 and text_width(line[:end], size, weight) > width:
        end -= 1
    word = max((match.start() for match in _HUMP.finditer(line) if match.start() <= end), default=0)
    return line[: word if word > end / 2 else end]
