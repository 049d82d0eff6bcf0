"""What is not a claim, and why.

Skipping hides text from the judge, so every rule here is narrow: a sentence that could hold something
checkable is kept. Reasons: `question`, `greeting`, `meta`, `opinion`, `instruction`, `abstention`,
`heading`, `code`, `citation`, `lead_in`, `table_header`, `no_words`, `bare_answer` (a lone yes or no says
something only together with the question; what follows it is judged).
"""

from __future__ import annotations

import re

_I = re.IGNORECASE
_MARGIN = " \t\n\"'“”‘’*_()[]`"

_GREETING = re.compile(
    r"(?:(?:hi|hello|hey|greetings|good (?:morning|afternoon|evening|day)|welcome|thanks|thank you|many thanks|"
    r"you'?re (?:very )?welcome|my pleasure|no problem|cheers|best regards|kind regards|sincerely|goodbye|bye|"
    r"have a (?:great|nice|good|lovely|wonderful) \w+|"
    r"(?:that'?s an? |what an? )?(?:great|good|excellent|interesting) question)"
    r"(?:,? (?:there|again|everyone|all|folks|team|back|so much|very much|a lot|for (?:asking|your|the|reaching)\b.*))?"
    r"|dear (?:\w+ ){0,2}\w+)(?:, (?:\w+ )?\w+)?[\s,.!:)]*",
    _I,
)
_BARE_ANSWER = re.compile(r"(?:yes|no|yep|nope|correct|right|exactly|indeed|not (?:really|quite|exactly))[\s,.!]*", _I)
_META = re.compile(
    r"(?:(?:sure|certainly|of course|absolutely|okay|ok|alright|got it|understood|no worries)(?: thing)?[\s,.!:–—-]*"
    r"(?:$|(?:here'?s?|i'?(?:d|ll|m)|let me|i can|i will|i would|happy to|glad to)\b)"
    r"|here'?(?: is|s| are| goes)\b|here you go|below (?:is|are)\b|"
    r"(?:please )?let me (?:know|explain|summari[sz]e|break)|(?:please )?feel free to|"
    r"(?:i )?hope (?:this|that|it) (?:helps|answers|clarifies|is helpful)|"
    r"i'?(?:ll| will| can| would|d)(?: be)? (?:happy|glad|try|do my best|help|explain|summari[sz]e)|"
    r"i'?m (?:happy|glad|here) to|happy to help|"
    r"if you (?:have|need|would like|want|'?d like)\b.*\b(?:questions?|help|assistance|details|information|know|ask|"
    r"clarification)\b|"
    r"don'?t hesitate to|as an? (?:ai|artificial|large language|language model)\b|"
    r"(?:is there )?anything else\b|this (?:answer|response|summary) (?:is|was) (?:based|generated|written)|"
    r"(?:the following|these) (?:is|are)\b.*:\s*$)",
    _I,
)
_OPINION = re.compile(
    r"(?:in my (?:humble |personal )?opinion|personally|i (?:personally )?(?:love|like|enjoy|prefer|feel|wish|"
    r"hope)\b|"
    r"i'?(?:d| would) (?:say|love|like|suggest|recommend|prefer)\b|i (?:think|believe|find|guess|suggest|"
    r"recommend)\b)",
    _I,
)
_EVALUATIVE = re.compile(
    r"\b(?:best|great|good|nice|lovely|beautiful|amazing|awesome|wonderful|interesting|fascinating|fun|worth|cool|"
    r"terrible|awful|boring|bad|better|worse|favou?rite|recommend|suggest|love|enjoy|idea|helpful|should)\b",
    _I,
)
_INSTRUCTION = re.compile(
    r"(?:please )?(?:(?:see|refer to|consult|check|visit|read|review|contact|ask|speak (?:to|with)|talk to)\b.*"
    r"\b(?:for (?:more|further|additional|full|the latest)|doctor|physician|professional|lawyer|attorney|expert|"
    r"specialist|"
    r"above|below)\b|keep (?:this|that|it|these) in mind|(?:please )?be careful|good luck|enjoy|"
    r"(?:please )?(?:provide|share|give|send) (?:me|us|more)\b|(?:please )?(?:rephrase|clarify|specify)\b)",
    _I,
)
_ABSTENTION_WORDS = re.compile(
    r"(?:un-?answerable|cannot ?answer|no answer|n/?a|not (?:mentioned|specified|stated|given|available|found|"
    r"provided)|"
    r"unknown|i (?:really )?(?:do not|don'?t) know(?: the answer)?(?: to (?:this|that|your question))?)",
    _I,
)
_SOURCES = (
    r"(?:(?:the |these |this |any of the |your )?(?:(?:provided|given|available|retrieved|supplied|above|search|"
    r"reference[d]?|"
    r"uploaded|shared)(?:,? \w+)? (?:context|passages?|documents?|sources?|text|texts|information|articles?|"
    r"materials?|"
    r"contents?|excerpts?|data|results|references|snippets?)|context|passages?|documents?|sources)"
    r"(?: (?:provided|given|i have|above|here|supplied|available|shared))?)"
)
_ABSTENTION = re.compile(
    r"(?:(?:based on|according to|from|given|in)\s+[^,]{1,60},\s*)?"
    r"(?:unfortunately|sorry|i'?m sorry|i am sorry|i apologi[sz]e|apologies|i'?m afraid|regrettably|"
    r"however)?[\s,.;:–—-]*"
    r"(?:but\s+)?(?:that\s+)?(?:"
    r"i (?:really |currently |still )?(?:do not|don'?t|did not|didn'?t) (?:know|"
    r"have (?:\w+ )?(?:\w+ )?(?:information|details|knowledge|access|data|"
    r"context|answer|sources?)|see (?:any|this|that|an?)|find (?:any|an?|the|this|that))"
    r"|i (?:have no|lack (?:the |any )?|found no) (?:information|details|data|answer|idea|mention)"
    r"|i'?m not (?:sure|certain|able)\b|i am not (?:sure|certain|able)\b"
    r"|(?:i|we) (?:can'?t|can ?not|could not|couldn'?t|am unable to|was unable to|were unable to) "
    r"(?:find|answer|determine|provide|tell|help|say|locate|confirm|give|assist|be determined)"
    r"|i'?m unable to\b|unable to (?:find|answer|determine|provide)"
    rf"|{_SOURCES} (?:do not|does not|don'?t|doesn'?t|did not|didn'?t) (?:\w+ )?(?:contain|provide|mention|"
    r"include|specify|say|state|have|address|discuss|give|answer|cover|offer|list|indicate|describe|explain)"
    rf"|{_SOURCES} (?:contains?|provides?|has|have|includes?|makes?|gives?) no\b"
    rf"|there (?:is|was|are) (?:no|not enough|insufficient|not any) (?:\w+ )?(?:information|mention|details?|data|"
    rf"answer|reference)\b"
    rf"|(?:no|not enough|insufficient) (?:\w+ )?(?:information|details?|answer|data|mention|context)\b.*\b(?:is|was|"
    rf"are|were|to) "
    r"|(?:the|this|your) (?:question|query) (?:can ?not|can'?t|could not) be answered"
    r"|(?:it|this|that|the answer) (?:is|was) not (?:mentioned|specified|stated|provided|given|found|available|clear|"
    r"possible to (?:say|tell|determine))"
    r"|(?:the )?(?:answer|information) (?:is|was) not (?:\w+ )?(?:in|mentioned|provided|available|found|contained))",
    _I,
)
_GOES_ON = re.compile(
    r"(?:(?:[,;]\s*|\s[–—-]\s*|\s)(?:but|however|although|though|yet|except)|"
    r"[,;]\s*(?:and|it does|they do|it says|they say))\b(?P<rest>.*)",
    _I | re.DOTALL,
)
_EMPTY_REST = re.compile(r"\s*(?:(?:i|we)\b(?! can (?:tell|say|confirm|share))|you|please|feel|let|therefore|so)\b", _I)
_CITATION = re.compile(
    r"(?:[\[(]\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*[\])][\s.,;:]*)+|(?:https?://|www\.)\S+|\[[^\]]*\]\([^)]*\)[.,;]?|"
    r"(?:sources?|references?|citations?|see also|read more|further reading)\s*:.*|"
    r"\[?\d{1,3}\]?[.:]?\s*(?:https?://|www\.)\S+|(?:sources?|references?|citations?)",
    _I | re.DOTALL,
)
_LEAD_IN_END = re.compile(
    r"(?:\b(?:following|follows|includ(?:e|es|ing|ed)|are|is|was|were|below|these|this|such as|by|to|for|with|of|"
    r"from|"
    r"steps?|reasons?|examples?|points?|ways|facts|options|details|features|summary|answer|overview|instructions)"
    r"(?: (?:\w+ ){0,2}\w+)?)\s*:$",
    _I,
)


def reason_to_skip(text: str, kind: str) -> str | None:
    """Why a sentence is not a claim, or None when it is one; `kind` is its block's."""
    if kind == "code":
        return "code"
    plain = text.replace("’", "'").strip(_MARGIN)
    if not any(character.isalnum() for character in plain):
        return "no_words"
    if kind == "table_row":
        return None
    if kind == "heading":
        return "heading"
    if _CITATION.fullmatch(text.strip().strip("*_")):
        return "citation"
    if _is_question(text):
        return "question"
    if is_abstention(plain):
        return "abstention"
    return _manner(plain)


def _manner(plain: str) -> str | None:
    """Talk about the conversation rather than about the world."""
    has_facts = any(character.isdigit() for character in plain)
    words = plain.split()
    if _BARE_ANSWER.fullmatch(plain):
        return "bare_answer"
    if _GREETING.fullmatch(plain) and len(words) <= 10 and not has_facts:
        return "greeting"
    if _META.match(plain) and not has_facts and not _says_more(plain):
        return "meta"
    if _OPINION.match(plain) and not has_facts and len(words) <= 14 and _is_only_opinion(plain):
        return "opinion"
    if _INSTRUCTION.match(plain) and not has_facts and len(words) <= 30:
        return "instruction"
    return None


def _is_only_opinion(plain: str) -> bool:
    """Whether an opinion carries no statement inside ("I find it interesting that ...")."""
    return bool(_EVALUATIVE.search(plain)) and not re.search(r"\b(?:that|which|because|since)\b|\(", plain)


def _says_more(plain: str) -> bool:
    """Whether meta-talk is followed, behind its colon, by something of substance."""
    _, colon, rest = plain.partition(":")
    return bool(colon) and len(rest.split()) >= 2


def _is_question(text: str) -> bool:
    """Whether a sentence asks; one that only quotes a question tells."""
    ended = text.rstrip(" \t\n*_)]")
    if ended.endswith(("?", "？", "؟")):
        return True
    inner = ended.rstrip("\"'”’")
    return inner != ended and inner.rstrip().endswith("?") and text.lstrip()[:1] in "\"'“‘"


def is_abstention(plain: str) -> bool:
    """Whether a sentence declines to answer and asserts nothing else about the world."""
    bare = plain.replace("’", "'").strip().rstrip(".!")
    if _ABSTENTION_WORDS.fullmatch(bare):
        return True
    declined = _ABSTENTION.match(bare)
    if declined is None:
        return False
    more = _GOES_ON.search(bare, declined.end())
    if more is None:
        return True
    rest = more["rest"]
    return len(rest.split()) < 3 or bool(_EMPTY_REST.match(rest)) or is_abstention(rest.strip())


def is_lead_in(text: str) -> bool:
    """Whether a sentence only announces the list below it ("The steps are as follows:")."""
    ended = text.rstrip(" *_")
    if len(ended.split()) > 14 or any(character.isdigit() for character in ended):
        return False  # it says something of its own
    return ended.endswith(":") and (_LEAD_IN_END.search(ended) is not None or len(ended.split()) <= 3)
