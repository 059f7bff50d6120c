"""What the import contract in pyproject.toml cannot say: worker.py stands on top, and only floor 5 reads settings."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(path for name in ("matins", "workflows", "activities") for path in (ROOT / name).rglob("*.py"))
FLOOR_5 = ("matins/cli/", "matins/local/", "matins/settings.py")
READS_ENVIRONMENT = (*FLOOR_5, "matins/rules/crash.py")


def imported(path: Path) -> set[str]:
    """Every module that a file imports, also inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def below(path: Path, places: tuple[str, ...]) -> bool:
    return path.relative_to(ROOT).as_posix().startswith(places)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_nothing_imports_the_composition_root(path) -> None:
    assert not {name for name in imported(path) if name == "worker" or name.startswith("worker.")}


@pytest.mark.parametrize(
    "path", [path for path in SOURCES if not below(path, FLOOR_5)], ids=lambda path: path.relative_to(ROOT).as_posix()
)
def test_only_floor_5_reads_settings(path) -> None:
    assert not {name for name in imported(path) if name.startswith("matins.settings")}


@pytest.mark.parametrize(
    "path",
    [path for path in SOURCES if not below(path, READS_ENVIRONMENT)],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_only_floor_5_and_the_crash_points_read_the_environment(path) -> None:
    assert "environ" not in path.read_text(encoding="utf-8")
