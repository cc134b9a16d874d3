"""Where each key of a TOML text stands. tomli gives values without lines; this scanner gives lines without values."""

from __future__ import annotations

import re
from typing import Final, TypeAlias

import tomli

MAX_DEPTH: Final = 32
Path: TypeAlias = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*+")
_KEY_PART = re.compile(r"""[ \t]*(?:([A-Za-z0-9_-]+)|("(?:[^"\\\n]|\\.)*+"|'[^'\n]*'))[ \t]*""")
_TEXT = re.compile(r'''"""(?:\\.|[^\\])*?"""(?:"{0,2})|\'\'\'.*?\'\'\'(?:'{0,2})|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*\'''', re.DOTALL)
_BARE = re.compile(r"[^,\]}#\n]+")


class TooDeepError(Exception):
    """The text nests deeper than MAX_DEPTH tables; `line` says where."""

    def __init__(self, line: int) -> None:
        self.line = line
        super().__init__(line)


def locate(text: str) -> dict[Path, int]:
    """Path of each table, key and list item → its line, from 1. `text` is TOML that tomli accepts.

    An array of tables counts its tables: ("questions", 0, "name"). Raises TooDeepError.
    """
    return _Scanner(text).scan()


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.line = 1
        self.counted = 0  # characters whose line breaks are in `line`
        self.lines: dict[Path, int] = {}
        self.arrays: dict[Path, int] = {}  # arrays of tables → how many tables so far

    def scan(self) -> dict[Path, int]:
        header: Path = ()
        self._skip_blank()
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                header = self._header()
            else:
                self._pair(header)
            self._skip_blank()
        return self.lines

    def _here(self) -> int:
        self.line += self.text.count("\n", self.counted, self.at)
        self.counted = self.at
        return self.line

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str]:
        found = pattern.match(self.text, self.at)
        if found is None:
            raise ValueError(f"line {self._here()}: this is no TOML")
        self.at = found.end()
        return found

    def _skip_blank(self) -> None:
        self._match(_BLANK)

    def _key(self) -> list[str]:
        parts = []
        while True:
            bare, quoted = self._match(_KEY_PART).groups()
            parts.append(bare if bare is not None else next(iter(tomli.loads(f"{quoted} = 0"))))
            if self.text[self.at] != ".":
                return parts
            self.at += 1

    def _extend(self, base: Path, parts: list[str], line: int) -> Path:
        if len(base) + len(parts) > MAX_DEPTH:
            raise TooDeepError(line)
        path = base
        for part in parts:
            if path in self.arrays:
                path = (*path, self.arrays[path] - 1)
            path = (*path, part)
            self.lines.setdefault(path, line)
        return path

    def _header(self) -> Path:
        line = self._here()
        is_array = self.text.startswith("[[", self.at)
        self.at += 2 if is_array else 1
        parts = self._key()
        self.at += 2 if is_array else 1
        path = self._extend((), parts, line)
        if is_array:
            self.arrays[path] = self.arrays.get(path, 0) + 1
            path = (*path, self.arrays[path] - 1)
        self.lines[path] = line
        return path

    def _pair(self, base: Path) -> None:
        line = self._here()
        path = self._extend(base, self._key(), line)
        self.at += 1  # the equals sign
        self._match(_BLANK)
        self._value(path)

    def _value(self, path: Path) -> None:
        opening = self.text[self.at]
        if opening in "\"'":
            self._match(_TEXT)
        elif opening == "[":
            self._inside(path, "]")
        elif opening == "{":
            self._inside(path, "}")
        else:
            self._match(_BARE)

    def _inside(self, path: Path, closing: str) -> None:
        if len(path) >= MAX_DEPTH:
            raise TooDeepError(self._here())
        self.at += 1
        index = 0
        while True:
            self._skip_blank()
            if self.text[self.at] == closing:
                self.at += 1
                return
            if closing == "}":
                self._pair(path)
            else:
                self.lines[(*path, index)] = self._here()
                self._value((*path, index))
                index += 1
            self._skip_blank()
            if self.text[self.at] == ",":
                self.at += 1
