"""Values of other libraries as native JSON values, nested ones too."""

from __future__ import annotations

import datetime
import decimal
import math
import uuid
from typing import Any


def native(value: Any, *, nan_is_missing: bool = False) -> Any:
    """numpy scalars and arrays, dates, decimals, tuples and mappings as JSON has them. What has no JSON form stays, for the row's check to name.

    `nan_is_missing`: pandas has no other way to say that a cell is empty.
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return None if nan_is_missing and math.isnan(value) else float(value)
    if isinstance(value, dict):
        return {key: native(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [native(item) for item in value]
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return None if nan_is_missing and value != value else value.isoformat()  # noqa: PLR0124  # pandas' NaT is a datetime unequal to itself
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, uuid.UUID):
        return str(value)
    return _of_arrays(value, nan_is_missing)


def _of_arrays(value: Any, nan_is_missing: bool) -> Any:
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    for conversion in ("tolist", "to_list", "item"):
        convert = getattr(value, conversion, None)
        if callable(convert):
            plain = convert()
            return plain if type(plain) is type(value) else native(plain, nan_is_missing=nan_is_missing)
    if hasattr(value, "keys") and hasattr(value, "__getitem__"):
        return {key: native(value[key]) for key in value.keys()}  # noqa: SIM118  # a mapping by its protocol need not iterate over its keys
    return value
