"""The scene, made once, and what every probe answers before anything is damaged."""

from __future__ import annotations

import pytest

from tests.integrity import scene as scenes
from tests.integrity.probes import Answer, answers
from tests.integrity.scene import Scene


@pytest.fixture(scope="session")
def scene() -> Scene:
    return scenes.made()


@pytest.fixture(scope="session")
def before(scene: Scene) -> dict[str, Answer]:
    return answers(scene, scene.rows)
