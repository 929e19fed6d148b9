"""Where pages of results are written: in the docs of a checkout; below ``results`` where the package is installed."""

import gzip
import zlib
from pathlib import Path

_HOME = Path(__file__).resolve().parents[1]
CHECKOUT = (_HOME / "pyproject.toml").is_file()
PAGES = _HOME / "docs" / "results" if CHECKOUT else Path("results") / "pages"


def unpacked(file: Path) -> bytes:
    """Return what a compressed file beside the pages holds.

    Raises
    ------
    ValueError
        If it is damaged.
    """
    packed = file.read_bytes()
    try:
        if not packed:
            raise EOFError("it is empty")
        return gzip.decompress(packed)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise damaged(file, error) from error


def damaged(file: Path, why: object) -> ValueError:
    """Return the error of a file beside the pages whose content is not what is written there, with the cure."""
    return ValueError(f"{file} is damaged ({why}); restore it, or delete it: what it held is then found anew")
