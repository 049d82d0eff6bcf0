"""Replies that are larger than any answer, or become it when they are decompressed: one failure, in little memory."""

import json
import zlib

import brotli
import pytest
from chatting import WIRES, ask

from everyclaim.core.errors import JudgeError
from everyclaim.core.types import Usage
from everyclaim.io.sinks import zstd
from everyclaim.testing import Fault, JudgeServer

GOOD = '{"ok": true}'
REPLY = {
    "model": "judge-1",
    "choices": [{"message": {"role": "assistant", "content": GOOD}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1},
    "status": "completed",
    "output": [{"type": "message", "content": [{"type": "output_text", "text": GOOD}]}],
    "content": [{"type": "text", "text": GOOD}],
    "stop_reason": "end_turn",
}
PACKERS = {
    "gzip": lambda: zlib.compressobj(9, zlib.DEFLATED, 31),
    "deflate": lambda: zlib.compressobj(9),
    "zstd": zstd.ZstdCompressor,
    "br": brotli.Compressor,
}


def packed(encoding: str, megabytes: int, value: object = REPLY) -> bytes:
    """A right answer behind this many megabytes of blanks, compressed to next to nothing."""
    packer = PACKERS[encoding]()
    pack = getattr(packer, "compress", None) or packer.process
    finish = packer.finish if encoding == "br" else packer.flush
    pieces = [pack(b" " * 1_000_000) for _ in range(megabytes)]
    return b"".join([*pieces, pack(json.dumps(value).encode()), finish()])


def bomb(encoding: str = "gzip", megabytes: int = 40) -> Fault:
    return Fault(200, {"content-encoding": encoding}, raw=packed(encoding, megabytes))


@pytest.mark.slow
@pytest.mark.parametrize(("encoding", "endpoint"), [*zip(PACKERS, [*WIRES, *WIRES], strict=False)])
def test_a_reply_that_inflates_is_one_failure(endpoint: str, encoding: str) -> None:
    """Over every wire format and compression: not tried again, counted as a call of unknown cost."""
    with JudgeServer(bomb(encoding)) as server, pytest.raises(JudgeError) as caught:
        ask(server, endpoint)
    error = caught.value
    assert (error.code, server.calls) == ("reply_too_large", 1), error
    assert "16 MB" in error.message
    assert "max_reply_mb" in error.message
    assert error.usage == Usage(calls=1, cost=None)


@pytest.mark.parametrize("encoding", PACKERS)
@pytest.mark.parametrize("endpoint", ["chat", "messages"])
def test_a_compressed_reply_of_usual_size_is_read(endpoint: str, encoding: str) -> None:
    """As servers and proxies send it."""
    with JudgeServer(bomb(encoding, megabytes=1)) as server:
        assert ask(server, endpoint).content == GOOD
