# Made of relatum.client.asynchronous by `python -m tests.client.blocking_form`; changes belong there.
"""A company's whole memory, for its administrators (company.md)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Literal, TypeVar, Unpack

from relatum.client.blocking.pages import Pages, next_cursor
from relatum.client.blocking.session import Session
from relatum.client.graphs import TypedWalk, typed_walk
from relatum.client.requests import VERSION, CallOptions, get, post
from relatum.client.results import RecordAt, id_of
from relatum.core.answers.company import (
    CompanyEvidenceGraphAnswer,
    CompanyRecordEntry,
    CompanyRecordInspectAnswer,
    CompanyRecordPage,
    CompanyRecordQueryAnswer,
    CompanyRelationInspectAnswer,
    CompanyRelationQueryAnswer,
    CompanyRelationRevisionAnswer,
    CompanyTypedGraphAnswer,
    Consumer,
    ConsumerPage,
    ConsumersAnswer,
    Workspace,
    WorkspacePage,
    WorkspacesAnswer,
)
from relatum.core.answers.graphs import Direction, EvidenceGraph
from relatum.core.answers.records import RecordInspection
from relatum.core.answers.relations import RelationHistory, RelationInspection, RelationPage
from relatum.core.company import (
    CompanyEvidenceGraphRead,
    CompanyRecordQuery,
    CompanyRecordRead,
    CompanyRelationQuery,
    CompanyRelationRead,
    CompanyRelationRevisionRead,
    CompanyTypedGraphRead,
    ConsumersQuery,
    ConsumersRead,
)
from relatum.core.graphs import EvidenceGraphQuery, TypedGraphQuery
from relatum.core.kinds import Kind
from relatum.core.queries import CompanyRecordFilter, RelationFilter
from relatum.core.streams import Stream

_PATH: Final = "/api/v1/company/memory"

T = TypeVar("T")


class Company:
    """Needs `credential_admin`; changes nothing."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def workspaces(self, *, limit: int | None = None, **options: Unpack[CallOptions]) -> Pages[Workspace]:
        """The company's workspaces, by id."""

        def fetch(after: str | None) -> WorkspacePage:
            request = get(
                f"{_PATH}/workspaces", WorkspacesAnswer, contract_version=VERSION, limit=limit, after_workspace_id=after
            )
            return (self._session.send(request, options)).page

        return Pages(fetch, lambda page: page.workspaces, lambda page: page.next_after_workspace_id)

    def consumers(self, stream: Stream, *, limit: int | None = None, **options: Unpack[CallOptions]) -> Pages[Consumer]:
        """The consumers of a stream in all workspaces, and how far each is behind."""

        def fetch(cursor: str | None) -> ConsumerPage:
            body = ConsumersRead(
                contract_version=VERSION, query=ConsumersQuery(stream=stream, limit=limit, cursor=cursor)
            )
            return (self._session.send(post(f"{_PATH}/consumers/query", body, ConsumersAnswer), options)).page

        return Pages(fetch, lambda page: page.consumers, next_cursor)

    def workspace(self, workspace_id: str) -> CompanyWorkspace:
        """One workspace; nothing is asked. Its reads raise RecordNotFound where there is none."""
        return CompanyWorkspace(self._session, workspace_id)


class CompanyWorkspace:
    """The reads within one workspace of the company."""

    def __init__(self, session: Session, workspace_id: str) -> None:
        self._session = session
        self.workspace_id = workspace_id

    def records(
        self,
        *,
        view: Literal["retained", "current"] = "retained",
        limit: int | None = None,
        scan_limit: int | None = None,
        order: Literal["created_asc", "created_desc"] = "created_desc",
        text: str | None = None,
        tag: str | None = None,
        type: Literal["memory", "person", "session", "task"] | None = None,  # noqa: A002 - the name on the wire
        category: str | None = None,
        fact_key: str | None = None,
        topic_key: str | None = None,
        source_id: str | None = None,
        **options: Unpack[CallOptions],
    ) -> Pages[CompanyRecordEntry]:
        """Records of the workspace, each with the verdict on it."""

        def fetch(cursor: str | None) -> CompanyRecordPage:
            query = CompanyRecordFilter(
                view=view,
                limit=limit,
                scan_limit=scan_limit,
                order=order,
                cursor=cursor,
                text=text,
                tag=tag,
                type=type,
                category=category,
                fact_key=fact_key,
                topic_key=topic_key,
                source_id=source_id,
            )
            body = CompanyRecordQuery(contract_version=VERSION, workspace_id=self.workspace_id, filter=query)
            return (self._ask("records/query", body, CompanyRecordQueryAnswer, options)).page

        return Pages(fetch, lambda page: page.entries, next_cursor)

    def inspect_record(self, record_id: RecordAt | str, **options: Unpack[CallOptions]) -> RecordInspection:
        """A retained record, whatever its state."""
        body = CompanyRecordRead(contract_version=VERSION, workspace_id=self.workspace_id, record_id=id_of(record_id))
        return (self._ask("records/inspect", body, CompanyRecordInspectAnswer, options)).inspection

    def relations(
        self,
        *,
        limit: int | None = None,
        scan_limit: int | None = None,
        order: Literal["created_asc", "created_desc"] = "created_desc",
        kind: Kind | None = None,
        state: Literal["active", "retired"] | None = None,
        disposition: Literal["approved", "rejected", "unreviewed", "none"] | None = None,
        origin: Literal["model_inference", "tool_observation", "human_statement", "imported_assertion"] | None = None,
        endpoint: str | None = None,
        reporter: str | None = None,
        **options: Unpack[CallOptions],
    ) -> Pages[RelationInspection]:
        """Retained relations of the workspace, each with the verdict on it."""

        def fetch(cursor: str | None) -> RelationPage:
            query = RelationFilter(
                limit=limit,
                scan_limit=scan_limit,
                order=order,
                cursor=cursor,
                kind=kind,
                state=state,
                disposition=disposition,
                origin=origin,
                endpoint=endpoint,
                reporter=reporter,
            )
            body = CompanyRelationQuery(contract_version=VERSION, workspace_id=self.workspace_id, filter=query)
            return (self._ask("relations/query", body, CompanyRelationQueryAnswer, options)).page

        return Pages(fetch, lambda page: page.relations, next_cursor)

    def inspect_relation(self, relation_id: str, **options: Unpack[CallOptions]) -> RelationInspection:
        """A retained relation, whatever its state."""
        body = CompanyRelationRead(contract_version=VERSION, workspace_id=self.workspace_id, relation_id=relation_id)
        return (self._ask("relations/inspect", body, CompanyRelationInspectAnswer, options)).inspection

    def relation_revision(self, relation_id: str, revision: int, **options: Unpack[CallOptions]) -> RelationHistory:
        """A relation as it was at one revision."""
        body = CompanyRelationRevisionRead(
            contract_version=VERSION, workspace_id=self.workspace_id, relation_id=relation_id, revision=revision
        )
        return (self._ask("relations/revision", body, CompanyRelationRevisionAnswer, options)).history

    def walk(
        self,
        root_record_ids: Iterable[RecordAt | str],
        *,
        direction: Direction = "both",
        relation_kinds: Iterable[Kind] | None = None,
        max_depth: int | None = None,
        node_limit: int | None = None,
        edge_limit: int | None = None,
        scan_limit: int | None = None,
        include_derived: bool = False,
        **options: Unpack[CallOptions],
    ) -> TypedWalk:
        """The neighbourhood of records of the workspace: still only what is eligible."""
        query = TypedGraphQuery(
            root_record_ids=tuple(map(id_of, root_record_ids)),
            direction=direction,
            relation_kinds=None if relation_kinds is None else tuple(relation_kinds),
            max_depth=max_depth,
            node_limit=node_limit,
            edge_limit=edge_limit,
            scan_limit=scan_limit,
            include_derived=include_derived,
        )
        body = CompanyTypedGraphRead(contract_version=VERSION, workspace_id=self.workspace_id, query=query)
        return typed_walk((self._ask("graph/typed", body, CompanyTypedGraphAnswer, options)).graph)

    def evidence(
        self,
        root_record_ids: Iterable[RecordAt | str],
        *,
        max_depth: int | None = None,
        node_limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> EvidenceGraph:
        """What records of the workspace were derived from."""
        query = EvidenceGraphQuery(
            root_record_ids=tuple(map(id_of, root_record_ids)), max_depth=max_depth, node_limit=node_limit
        )
        body = CompanyEvidenceGraphRead(contract_version=VERSION, workspace_id=self.workspace_id, query=query)
        return (self._ask("graph/evidence", body, CompanyEvidenceGraphAnswer, options)).graph

    def _ask(self, path: str, body: Any, answers: type[T], options: CallOptions) -> T:
        return self._session.send(post(f"{_PATH}/{path}", body, answers), options)
