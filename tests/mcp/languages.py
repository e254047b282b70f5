"""Memories in four scripts, as many as are wanted, each of them different."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Language(NamedTuple):
    """What sentences are made of: who, did what, where; and a word that all of them have."""

    word: str
    subjects: tuple[str, ...]
    deeds: tuple[str, ...]
    places: tuple[str, ...]


LANGUAGES = {
    "latin": Language(
        "staging",
        ("The deploy script", "Our build server", "Every release branch", "The on-call engineer"),
        ("restarts the cache before", "reads the secrets of", "waits for a review in", "copies the nightly dump to"),
        ("staging and the archive in Frankfurt.", "staging, unless the queue is full.", "staging on Friday evenings."),
    ),
    "cyrillic": Language(
        "сервер",
        ("Скрипт развёртывания", "Дежурный инженер", "Каждая ветка релиза", "Ночная сборка"),
        ("перезапускает кэш через", "читает секреты через", "ждёт проверки через", "копирует архив через"),
        ("сервер во Франкфурте.", "сервер, если очередь не полна.", "сервер по пятницам вечером."),
    ),
    "japanese": Language(
        "本番環境",
        ("デプロイのスクリプトは", "当番の技術者は", "夜間のビルドは", "すべてのリリースは"),
        ("キャッシュを再起動してから", "秘密鍵を読み込んでから", "確認を待ってから", "バックアップを複製してから"),
        ("本番環境に反映される。", "本番環境と東京の書庫に送られる。", "本番環境で金曜の夜に実行される。"),
    ),
    "emoji": Language(
        "rocket",
        ("🚀 rocket launch 🧑‍🚀", "🔥 rocket alarm 🚨", "🐛 rocket bug 🪲", "🎉 rocket party 🥳"),
        ("➡️ 📦📦📦", "⏳ 🔒🔑", "✅ 👀🙏", "🧹 🗑️💾"),
        ("🌍🌎🌏", "🏢☁️🛰️", "🇩🇪🇯🇵🇧🇷"),
    ),
}


def memories(language: Language, number: int) -> Iterator[str]:
    """So many texts of one to five sentences, no two alike."""
    for index in range(number):
        sentences = []
        for turn in range(1 + index % 5):
            draw = index * 7 + turn * 13
            subject, deed = language.subjects[draw % 4], language.deeds[draw // 4 % 4]
            sentences.append(f"{subject} {deed} {language.places[draw // 16 % 3]}")
        yield f"{' '.join(sentences)} ({index})"
