"""Arrays that lie beside a policy: ``NAME.SUFFIX`` for ``NAME.zip``, with what there is to say of them as JSON."""

import io
import json
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

import numpy as np

from mcts_envs.core.writing import write_whole

_DAMAGE = OSError, KeyError, ValueError, RuntimeError, EOFError, TypeError, AttributeError, BadZipFile, zlib.error


def beside(policy: Path | str, suffix: str) -> Path:
    """Return the file that belongs to a policy."""
    path = Path(policy)
    return path.with_name(path.name.removesuffix(".zip") + suffix)


def write(file: Path, about: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write arrays and what there is to say of them; the file appears whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, packed(about, arrays))


def packed(about: Mapping[str, Any], arrays: Mapping[str, Any]) -> bytes:
    """Return what :func:`write` writes."""
    raw = io.BytesIO()
    with ZipFile(raw, "w", ZIP_DEFLATED, compresslevel=1) as archive:  # thrice as fast as NumPy's own
        for name, value in {"about": np.frombuffer(json.dumps(about).encode(), np.uint8), **arrays}.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(value), allow_pickle=False)
    return raw.getvalue()


@contextmanager
def reading(file: Path, otherwise: str, cure: str) -> Iterator[tuple[dict[str, Any], Any]]:
    """Read what :func:`write` wrote: what is said, and the arrays, each of which is read when it is asked for.

    Raises
    ------
    ValueError
        If the file is damaged, or what is done with it fails, since it is of ``otherwise``; says the ``cure``.
    """
    try:
        with file.open("rb") as raw, np.load(raw, allow_pickle=False) as arrays:
            yield json.loads(arrays["about"].tobytes()), arrays
    except _DAMAGE as error:
        detail = f"{type(error).__name__}: {error}".splitlines()[0][:300]
        raise ValueError(f"{file} is damaged, or of {otherwise} ({detail}); {cure}") from error
