"""A third party's judge and decomposer whose every answer can be told beforehand.

A claim that stands in a passage is supported; one that stands there after "NOT " is contradicted; one
that says "FAIL" makes the judge fail, one that says "CRASH" breaks it, one that says "STOP" is the user
pressing Ctrl-C, or the signal that SCRIPTED_STOP names.
"""

import os
import signal
import time

from everyclaim import Claim, Decomposition, Evidence, JudgeError, Label, Verdict
from everyclaim.core.types import Probabilities, Span


class Judge:
    spec = "scripted"

    async def verify(self, claims, passages, *, question=""):
        return [self._verdict(claim, passages) for claim in claims]

    def _verdict(self, claim, passages):
        if "FAIL" in claim.text:
            raise JudgeError("no_reply", "the script says so")
        if "STOP" in claim.text and (named := os.environ.pop("SCRIPTED_STOP", "")):
            os.kill(os.getpid(), getattr(signal, named, signal.SIGINT))
            time.sleep(1)  # the signal is the main thread's to answer, and this is another
        for passage in passages:
            start = passage.text.find(claim.text)
            if start >= 0:
                against = passage.text[:start].endswith("NOT ")
                return Verdict(
                    claim.id,
                    Label.CONTRADICTED if against else Label.SUPPORTED,
                    Probabilities(0, 0, 1) if against else Probabilities(1, 0, 0),
                    evidence=(Evidence(passage.id, start, start + len(claim.text), claim.text),),
                )
        return Verdict(claim.id, Label.UNSUPPORTED, Probabilities(0.1, 0.8, 0.1))


class Sentences:
    spec = "sentences"

    async def decompose(self, response, *, question=""):
        claims, start = [], 0
        for sentence in response.split(" | "):
            if sentence.strip() and sentence != "I do not know":
                span = Span(start, start + len(sentence))
                claims.append(Claim(f"c{len(claims) + 1}", sentence, span, sentence))
            start += len(sentence) + 3
        return Decomposition(tuple(claims), abstained=response == "I do not know")


def judge(spec):
    if spec.argument == "broken":
        raise RuntimeError("the factory is broken")
    return Judge()


def decomposer(spec):
    return Sentences()
