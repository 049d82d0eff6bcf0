"""The words of a sentence as a grammar counts them: "don't" is "do" and "n't", "well-known" three, "U.S." one.

The conventions are those of the UD English Web Treebank, from which the parser is taught.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from everyclaim.text.abbreviations import MONTHS, NAMED

_WORD = re.compile(
    rf"""
    (?:https?://|www\.)\S+?(?=[.,;:!?)\]"'>]*(?:\s|$))       # addresses
  | [\w.+-]+@[\w-]+(?:\.[\w-]+)+
  | (?:[A-Za-z]\.){{2,}}(?:[A-Za-z](?![\w]))?                # U.S., e.g.
  | (?-i:[A-Z]\.(?=\s*[A-Z]))                                # J. Smith
  | (?:{NAMED}|{MONTHS}|Ft|etc|approx)\.(?=\s*\S)
  | \d+(?:[.,:/]\d+)*(?:st|nd|rd|th|s)(?![^\W_])             # 20th  1970s
  | \d+(?:-\d+){{2,}}(?![^\W_])                              # 2024-05-01
  | (?:\d{{3}}[/-])?(?:\d{{3}}|\d{{5}})-\d{{4}}(?![\w-])     # 345-9945
  | \d+['’]s(?!\w)
  | [.]?\d+(?:[.,:/]\d+)*                                    # 2.8  1,000  12:30
  | [^\W\d_]+(?=n['’]t(?!\w))                                # do + n't
  | n['’]t(?!\w)
  | can(?=not(?!\w)) | (?<=can)not(?!\w)
  | (?:e|co|re|non|pre|anti|mid|ex|semi|multi|self(?!-)|sub|ultra|post|pro|un|bi|tri)-[^\W\d_]+(?!-?\w)
  | (?<=\w)['’](?:s|re|ve|ll|d|m)(?!\w)
  | [A-Za-z]+&[A-Za-z]+
  | [:;=]-?[()DP](?![^\W_])                                 # :-)
  | (?:is|was|are|do|does|did|has|have|had|ca|wo|could|would|should)(?=nt(?!\w)) | (?<=[a-z])nt(?!\w)
  | (?:gon|wan)(?=na(?!\w)) | got(?=ta(?!\w)) | (?<=gon|wan)na(?!\w) | (?<=got)ta(?!\w)
  | \w+(?:[.-]\#?\w+){{0,4}}\.(?:docx?|xlsx?|pdf|txt|csv|html?|jpe?g|png|py|json|zip)(?!\w)
  | [a-z]+(?:\.[a-z]+){{2,8}}(?!\w)
  | [A-Za-z]+\d+(?:_\d+)*(?![^\W_])
  | [^\W\d_]+(?:\.(?:com|org|net|gov|edu|co|io))+(?![\w])
  | [^\W\d_]+ | \d+
  | ``|''|\.\.+|--+|(?P<same>[!?*=_#~+<>-])(?P=same)+
  | \S
    """,
    re.VERBOSE | re.IGNORECASE,
)


class WordSpan(NamedTuple):
    """A word and its place: ``text[start:end]``."""

    start: int
    end: int


def word_spans(text: str) -> list[WordSpan]:
    """Give the place of every word and sign of a text."""
    return [WordSpan(*match.span()) for match in _WORD.finditer(text)]
