"""Outputs that outlive who reads them: what a process writes is never what ends it, nor what an agent loses by."""

import errno
import io
import sys
from contextlib import suppress
from typing import Any

FULL = errno.ENOSPC, errno.EDQUOT, errno.EFBIG
"""Errors of a disk that takes no more."""


class Output(io.FileIO):
    """An output; once its terminal or pipe is closed or its disk full, what is written is lost, and nothing else."""

    lost = 0

    def write(self, data: Any) -> int:
        """Write what can be; ``lost`` counts the bytes for which a disk has no room."""
        try:
            return super().write(data)
        except OSError as error:
            closed = errno.EINVAL if sys.platform == "win32" else errno.EPIPE  # a pipe
            if error.errno not in (errno.EIO, closed, *FULL):
                raise
            self.lost += memoryview(data).nbytes if error.errno in FULL else 0
            return memoryview(data).nbytes


def make_lasting() -> dict[str, Output]:
    """Let ``sys.stdout`` and ``sys.stderr``, where they are the process's own, outlive who reads them; return those.

    What they cannot encode is written as ``?``.
    """
    outputs = dict[str, Output]()
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            with suppress(OSError):  # of what was written before, and nobody read
                stream.reconfigure(errors="replace")
            own = stream is getattr(sys, f"__{name}__")
            if own and isinstance(getattr(stream.buffer, "raw", stream.buffer), io.FileIO):  # no console of Windows
                outputs[name] = Output(stream.fileno(), "w", closefd=False)
                at_once = stream.line_buffering or stream.write_through
                raw = io.BufferedWriter(outputs[name])
                setattr(sys, name, io.TextIOWrapper(raw, stream.encoding, "replace", line_buffering=at_once))
    return outputs
