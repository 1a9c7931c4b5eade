"""Reading the TOML files that people write, with errors that name the file, the key and what is allowed."""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from curate.errors import UserError

Model = TypeVar("Model", bound=BaseModel)


def load_toml(path: Path, model: type[Model]) -> Model:
    """Return the file as an instance of `model`; raises UserError that names file, key and what is allowed."""
    return parse(model, read_toml(path), str(path))


def read_toml(path: Path) -> dict[str, Any]:
    """Return the file as a dict; raises UserError when it is missing or not TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not valid TOML: {error}") from None


def parse(model: type[Model], data: Any, where: str) -> Model:
    """Return `data` as an instance of `model`; raises UserError that starts with `where`."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise UserError(f"{where}: " + "; ".join(_one(model, item) for item in error.errors())) from None


def _one(model: type[BaseModel], error: Any) -> str:
    key = ".".join(str(part) for part in error["loc"]) or "the file"
    if error["type"] == "extra_forbidden":
        allowed = _allowed(model, error["loc"][:-1])
        near = difflib.get_close_matches(str(error["loc"][-1]), allowed, 1)
        hint = f", did you mean {near[0]}?" if near else ""
        return f"unknown key {key}{hint} (allowed: {', '.join(allowed)})"
    if error["type"] == "missing":
        return f"key {key} is missing"
    return f"{key}: {error['msg'].removeprefix('Value error, ')} (got {error['input']!r})"


def _allowed(model: type[BaseModel], loc: tuple[Any, ...]) -> list[str]:
    """Return the keys allowed at a place inside a model, following nested models as far as they are known."""
    current: Any = model
    for part in loc:
        if isinstance(part, int):
            continue
        field = getattr(current, "model_fields", {}).get(part)
        current = next((kind for kind in _models(field.annotation)), None) if field else None
    return list(getattr(current, "model_fields", {}))


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for inner in getattr(annotation, "__args__", ()) for found in _models(inner)]
