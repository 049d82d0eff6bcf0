"""Statements from a question and its short answer, by patterns that fit well or not at all."""

from __future__ import annotations

import re

PAST = {
    "win": "won", "lose": "lost", "begin": "began", "become": "became", "make": "made", "take": "took", "give": "gave",
    "write": "wrote", "find": "found", "build": "built", "leave": "left", "go": "went", "come": "came", "get": "got",
    "sell": "sold", "buy": "bought", "hold": "held", "lead": "led", "meet": "met", "say": "said", "see": "saw",
    "send": "sent", "speak": "spoke", "spend": "spent", "fall": "fell", "grow": "grew", "know": "knew", "run": "ran",
    "sign": "signed", "teach": "taught", "think": "thought", "bring": "brought", "have": "had", "do": "did",
    "draw": "drew", "fight": "fought", "rise": "rose", "sing": "sang", "put": "put", "set": "set", "cost": "cost",
    "pay": "paid", "defeat": "defeated", "use": "used", "move": "moved", "die": "died", "arrive": "arrived",
    "refer": "referred", "occur": "occurred", "stop": "stopped", "permit": "permitted", "study": "studied",
    "carry": "carried", "marry": "married", "try": "tried", "feel": "felt", "keep": "kept", "lose out": "lost out",
}  # fmt: skip


def _past(verb: str) -> str:
    if verb in PAST:
        return PAST[verb]
    return verb + "d" if verb.endswith("e") else verb + "ed"


def statement(question: str, answer: str) -> tuple[str, tuple[int, int]] | None:
    """Turn a question and an answer into a statement, with the span of the answer in it; None where nothing fits."""
    question = question.strip().rstrip("?").strip()
    answer = answer.strip().rstrip(".").strip()
    if (
        not 2 <= len(answer) <= 70
        or len(question) < 12
        or len(question) > 140
        or re.search(r"[.;\n]|^(?:That|By|To|Because|When|How) ", answer)
    ):
        return None
    answer_first = answer[0].upper() + answer[1:]
    match = re.match(
        (
            r"(?:Who|What) ((?!did|do|does|was the name|is the name|are|were|is|was|other|kind|"
            r"type)[a-z]+(?:ed|[^s]s)|won|led|wrote|made|built|gave|held|took|sold|sent|became|began) (.{4,})"
        ),
        question,
    )
    if match and not (match[1].endswith("s") and re.search(r"s$|\band\b", answer)):
        return f"{answer_first} {match[1]} {match[2]}.", (0, len(answer))
    match = re.match(
        (
            r"(?:Who|What|which [a-z]+|Which [a-z]+) (is|was|are|were|has|had|have|can|could|will|"
            r"must) ((?:[a-z]+ed|[a-z]+en|made|built|found|held|led|been|also|able|responsible|"
            r"considered)\b.{3,})"
        ),
        question,
    )
    if match and not (match[1] in ("is", "was", "has") and re.search(r"[^s]s$| and ", answer)):
        return f"{answer_first} {match[1]} {match[2]}.", (0, len(answer))
    match = re.match(r"(?:Who|What) (is|was|are|were) ((?:the|an?|[A-Z][\w'’-]+) [^,]{4,})", question)
    if (
        match
        and not re.search(r"\b(?:of|in|for|to|with|by|from|at|on|called|known as)$", match[2])
        and not re.search(r"\b[a-z]+ed(?: in| to)?$", match[2])
    ):
        subject = match[2][0].upper() + match[2][1:]
        return _at_end(f"{subject} {match[1]}", answer, "")
    match = re.match(r"When (was|were|is|are) (.{4,}) ([a-z]+(?:ed|en|un|lt|nd|ld|de))(.*)$", question)
    if match and re.search(r"\d|January|century|after|before|during", answer):
        lead = (
            ""
            if re.match(r"(?:in|on|by|after|before|during|since|around|from)\b", answer, re.IGNORECASE)
            else _when(answer)
        )
        subject = match[2][0].upper() + match[2][1:]
        return _at_end(f"{subject} {match[1]} {match[3]}{match[4]}", _low(answer, lead), lead)
    match = re.match(
        r"(When|Where|In what year|In which year|What year) did ((?:the |a |[A-Z])[^,]{1,60}?) ([a-z]+)( .*)?$",
        question,
    )
    if match and re.fullmatch(
        (
            r"(?:become|begin|win|lose|die|move|open|start|end|join|leave|marry|invade|sign|arrive|release|"
            r"publish|meet|fall|take|make|hold|build|establish|found|return|occur|appear|create|attend|"
            r"receive|live|play|discover|defeat|declare|introduce|launch|expand|adopt|write|visit|study|"
            r"teach|grow|launch|originate|form|serve|emerge|land|settle|rise|retire|debut)"
        ),
        match[3],
    ):
        subject = match[2][0].upper() + match[2][1:]
        place = match[1] == "Where"
        lead = (
            ""
            if re.match(
                r"(?:in|on|at|by|after|before|during|since|around|from|to|near|inside)\b", answer, re.IGNORECASE
            )
            else ("in" if place else _when(answer))
        )
        return _at_end(f"{subject} {_past(match[3])}{match[4] or ''}", _low(answer, lead), lead)
    match = re.match(
        (
            r"(How many|What percentage of|What percent of) ([a-z][\w' -]{2,50}?) (were|are|was|is|have|has|"
            r"had|make up|made up|live|lived|died) (.{2,})"
        ),
        question,
    )
    if match and re.match(
        r"[\d$]|two|three|four|five|six|seven|eight|nine|ten|over|about|more than",
        answer.lower(),
    ):
        of = "" if match[1] == "How many" else "of "
        if match[1] == "How many" and " " in answer and not re.search(r"(?:million|billion|thousand|\d)$", answer):
            return None
        return f"{answer_first} {of}{match[2]} {match[3]} {match[4]}.", (0, len(answer))
    match = re.match(r"Where (was|were|is|are) (.{4,}) ([a-z]+(?:ed|orn|ilt|eld|und))$", question)
    if match:
        lead = "" if re.match(r"(?:in|on|at|by|near|from|inside|outside|along)\b", answer, re.IGNORECASE) else "in"
        subject = match[2][0].upper() + match[2][1:]
        return _at_end(f"{subject} {match[1]} {match[3]}", _low(answer, lead), lead)
    match = re.match(
        r"(?:In|On) (what|which) (year|month|city|country|state|day|date|decade|century) (was|were|did) (.{4,})$",
        question,
    )
    if match and match[3] != "did":
        words = match[4].rsplit(" ", 1)
        if len(words) == 2 and re.search(r"(?:ed|en|orn|ilt|eld|und)$", words[1]):
            lead = "on" if match[2] in ("day", "date") else "in"
            subject = words[0][0].upper() + words[0][1:]
            if re.match(r"(?:in|on)\b", answer, re.IGNORECASE):
                lead = ""
            return _at_end(f"{subject} {match[3]} {words[1]}", _low(answer, lead), lead)
    return None


def _when(answer: str) -> str:
    return "on" if re.match(r"(?:[A-Z][a-z]+day|[A-Z][a-z]+ \d{1,2}(?!\d)|\d{1,2} [A-Z])", answer) else "in"


def _low(answer: str, lead: str) -> str:
    return answer if lead or answer[:1].isdigit() else answer[0].lower() + answer[1:]


def _at_end(stem: str, answer: str, lead: str) -> tuple[str, tuple[int, int]]:
    opening = f"{stem} {lead} " if lead else f"{stem} "
    return f"{opening}{answer}.", (len(opening), len(opening) + len(answer))
