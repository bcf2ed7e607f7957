"""Languages beside English: how they are told, and what of them is compared."""

from __future__ import annotations

from memcli.text.words import is_foreign, language, terms, without_absent


def test_a_language_is_told_by_its_function_words() -> None:
    table = {
        "Welche Datenbanken sichern wir?": "german", "Wo liegen die Sicherungen?": "german",
        "¿Qué base de datos usamos?": "spanish", "Los pagos se reintentan.": "spanish", "Which database do we use?": "",
        "del obj; en, de, es": "", "The license is MIT, and we want to die in the war room.": "", "データベース": "", "": "",
    }  # fmt: skip
    assert {text: language(text) for text in table} == table


def test_texts_of_one_language_share_terms_whatever_their_form_but_no_grammar() -> None:
    alike = [
        ("Wir haben die Datenbanken gesichert.", "Wann wird eine Datenbank gesichert?"),
        ("größe", "GROSSE"),
        ("La autenticación falla con los servidores.", "¿Qué autenticacion usa el servidor?"),
        ("主データベースはPostgreSQL。", "データベースはどれ？"),
        ("数据库连接池的大小", "连接池大小是多少？"),
        ("데이터베이스는 백업합니다", "데이터베이스를 백업하나요?"),
        ("สำรองฐานข้อมูลทุกคืน", "ฐานข้อมูลอยู่ที่ไหน"),
    ]
    apart = [
        ("Wir sichern die Daten.", "Wie oft lüften wir die Räume?"),
        ("Los datos se guardan.", "¿Cómo se pintan los muros?"),
        ("データを保存している。", "天気はどうなっていますか？"),
        ("我们可以保存数据。", "你们怎么可以这么早吃饭？"),
    ]
    assert [two for two in (*alike, *apart) if set(terms(two[0])) & set(terms(two[1]))] == alike


def test_of_two_stems_of_a_word_the_absent_one_is_not_asked_for() -> None:
    assert terms("Wie sichern wir das?") == ["sichern", "sich_"]
    assert without_absent({"sichern": 0, "sich_": 2, "http-client": 0}) == {"sich_": 2}
    assert without_absent({"sichern": 1, "sich_": 0}) == {"sichern": 1}
    assert without_absent({"sichern": 0, "sich_": 0, "redi": 0}) == {"sichern": 0, "sich_": 0, "redi": 0}


def test_foreign_is_what_is_mostly_no_english() -> None:
    table = {
        "Wie oft wird gesichert?": True,
        "PostgreSQLの接続プールは？": True,
        "резервные копии": True,
        "Why naïve?": False,
    }
    assert {text: is_foreign(text) for text in table} == table
