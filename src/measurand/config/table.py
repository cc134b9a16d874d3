"""What every table of metrics.toml has in common: closed, frozen, no coercion; and the kinds of value they are made of."""

from __future__ import annotations

import re
from typing import Annotated, Any, NoReturn

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from measurand.config.secrets import looks_like_a_secret

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_NAME = re.compile(r"[\w.-]{1,64}")


class Table(BaseModel):
    """One table of metrics.toml. Unknown keys are errors, "5" is not 5, nothing changes after reading."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)


def refuse(message: str, hint: str = "", *, key: str | None = None, code: str = "invalid_value") -> NoReturn:
    """Refuse a value, in words that stand in a problem as they are; `key` points at one key of a refused table."""
    raise PydanticCustomError("refused", "{message}", {"message": message, "hint": hint, "key": key, "code": code})


def _one_or_many(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


def _name(value: str) -> str:
    if not _NAME.fullmatch(value):
        refuse("is no usable name", "letters, digits, '.', '-' and '_', at most 64")
    return value


def _variable(value: Any) -> Any:
    if isinstance(value, str) and (not _VARIABLE.fullmatch(value) or looks_like_a_secret(value)):
        refuse(
            "is not the name of an environment variable (the value is not shown: it may be the secret itself)",
            "letters, digits and '_'; put the secret into a variable, e.g. OPENAI_API_KEY, and write that name here",
            code="secret_in_config" if looks_like_a_secret(value) else "not_a_variable",
        )
    return value


Text = Annotated[str, Field(min_length=1)]
Name = Annotated[str, BeforeValidator(lambda value: _name(value) if isinstance(value, str) else value)]
Variable = Annotated[str, BeforeValidator(_variable), Field(json_schema_extra={"pattern": f"^{_VARIABLE.pattern}$"})]
Texts = Annotated[tuple[Text, ...], Field(strict=False)]
OneOrMany = Annotated[tuple[Text, ...], Field(strict=False), BeforeValidator(_one_or_many, json_schema_input_type=Text | list[Text])]
Share = Annotated[float, Field(ge=0, le=1)]
Level = Annotated[float, Field(gt=0, lt=1)]
Above0 = Annotated[float, Field(gt=0)]
AtLeast0 = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]
CountOr0 = Annotated[int, Field(ge=0)]
