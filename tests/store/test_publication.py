"""Which views keep a superseded state: those that were taken before, and no other."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from relatum.errors import StorageFailure
from relatum.store.publication import Chunk, Publication

SOON = 60.0


class Nothing:
    """A cut without rows."""

    def get(self, key: bytes) -> bytes | None:
        return None

    def chunk(self, start: bytes, stop: bytes, reverse: bool, limit: int) -> Chunk:
        return [], True


@pytest.fixture
def publication() -> Publication:
    return Publication(Nothing())


def test_without_views_nothing_is_waited_for(publication: Publication) -> None:
    assert publication.outlast_earlier_views(0)
    publication.replace(Nothing(), 1)
    assert publication.outlast_earlier_views(0)


def test_views_of_the_present_publication_are_not_waited_for(publication: Publication) -> None:
    publication.replace(Nothing(), 1)
    with publication.view(), publication.view():
        assert publication.outlast_earlier_views(0)


def test_a_view_of_any_earlier_publication_is(publication: Publication) -> None:
    oldest = publication.view()
    publication.replace(Nothing(), 1)
    older, old = publication.view(), publication.view()
    publication.replace(Nothing(), 2)
    for view in (old, oldest, older):
        assert not publication.outlast_earlier_views(0)
        view.close()
        view.close()
    assert publication.outlast_earlier_views(0)


def test_the_wait_ends_when_the_last_of_them_is_closed(publication: Publication) -> None:
    view = publication.view()
    publication.replace(Nothing(), 1)
    with ThreadPoolExecutor(1) as pool:
        outlasted = pool.submit(publication.outlast_earlier_views, SOON)
        view.close()
        assert outlasted.result(SOON)


def test_a_publication_that_is_closed_is_not_replaced(publication: Publication) -> None:
    publication.close(0)
    with pytest.raises(StorageFailure):
        publication.replace(Nothing(), 1)
