"""Names that the source gives to things, so that a document may mention them and nothing made up."""

import ast
from collections.abc import Iterator
from pathlib import Path


def names_in_code(source: Path) -> set[str]:
    """Modules, functions, classes and fields below `source`, and what it takes from the standard `os`."""
    return {name for path in source.rglob("*.py") for name in (path.stem, *names_in(path))}


def names_in(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Attribute(value=ast.Name(id="os"), attr=name):
                yield name
