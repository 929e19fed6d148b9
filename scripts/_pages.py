"""Where pages of results are written: in the docs of a checkout; below ``results`` where the package is installed."""

from pathlib import Path

_HOME = Path(__file__).resolve().parents[1]
CHECKOUT = (_HOME / "pyproject.toml").is_file()
PAGES = _HOME / "docs" / "results" if CHECKOUT else Path("results") / "pages"
