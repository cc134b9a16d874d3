from __future__ import annotations

import pytest

from measurand.core.record import ToolCall
from measurand.formula.tool_names import name_words, named_by


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("delete_user", "delete user"),
        ("deleteUser", "delete user"),
        ("DELETE-USER", "delete user"),
        ("users.delete", "users delete"),
        ("SQLDropTable", "sql drop table"),
        ("s3DeleteObject", "s3 delete object"),
        ("undelete", "undelete"),
        ("удалить_всё", "удалить всё"),
        ("__", ""),
        ("", ""),
    ],
)
def test_the_words_of_a_name(name: str, words: str) -> None:
    assert name_words(name) == tuple(words.split())


def test_a_word_of_several_is_held_where_they_follow_each_other() -> None:
    calls = [ToolCall(name) for name in ("vm.shutDown", "shut_the_door_down", "down_shut", "shut")]
    assert [call.name for call in named_by(calls, ["shut_down"])] == ["vm.shutDown"]
    assert named_by(calls, []) == []
    assert named_by(calls, ["", "_"]) == []
