# Made of relatum.client.asynchronous by `python -m tests.client.blocking_form`; changes belong there.
"""A program that uses every method of the blocking client; the blocking form of it is made of it."""

from __future__ import annotations

from contextlib import suppress

from relatum.client import (
    Advance,
    Authority,
    Client,
    ConfirmationInput,
    CreateRecord,
    CredentialSpec,
    Derivation,
    EdgeInput,
    Judgment,
    Memory,
    MiningRun,
    OutcomeUnknown,
    Pair,
    Proposal,
    Provenance,
    RecordInput,
    Ref,
    RetireRelation,
    RevisionConflict,
    Scope,
    Secret,
)

SCOPE = Scope(project_id="demo", agent_id="extractor", visibility="shared")
SAID = Provenance(origin="human_statement", method="review", method_revision="1", evidence_ref="unknown")
SPEC = CredentialSpec(
    subject_id="worker",
    capabilities=("memory_read", "memory_write", "memory_review", "memory_checkpoint", "memory_mine"),
    grants=(SCOPE,),
)
RUN = MiningRun(run_id="night", run_date="2026-01-02")


def administer(client: Client) -> Secret:
    """What an administrator can do, but for the reads of workspaces; answers a worker's secret."""
    health = client.health()
    assert "healthy" == health.status
    assert "ready" == (client.ready()).status
    assert "root" == (client.identity()).spec.subject_id
    credential, _ = client.credentials.issue(SPEC)
    rotated, secret = client.credentials.rotate(credential.id, expected_revision=1)
    limited = client.credentials.set_authority(
        credential.id, expected_revision=rotated.revision, authority=Authority(grants=(SCOPE,))
    )
    assert limited == client.credentials.get(credential.id)
    other, _ = client.with_options(timeout=5.0, deadline=20.0).credentials.issue(SPEC)
    assert (client.credentials.revoke(other.id, expected_revision=1)).revoked_at_millis is not None
    assert 3 == len([one.id for one in client.credentials.list(limit=1)])
    answer = client.call("/api/v1/identity", retry="read")
    assert 1 == answer["contract_version"]
    return secret


def remember(memory: Memory) -> tuple[Ref, str]:
    """Commands and reads of records and relations; answers a record and a relation."""
    records, relations = memory.records, memory.relations
    records.activate()
    cause = records.create("The cable of rack 4 was pulled out.", tags=["rack-4"], event_time_millis=1)
    effect = records.create(RecordInput(content="The build server was unreachable.", event_time_millis=2))
    saved = records.save("The cable of rack 4 was pulled out on Monday.", topic_key="rack-4/cable")
    assert saved.judgment_required
    effect = records.revise(effect, "The build server was unreachable for an hour.")
    effect = records.review(effect, "approved", evidence_ref="review-1")
    derived = records.derive("A cable.", [cause], method="summary", method_revision="1", evidence_ref="e")
    whole = Derivation(
        sources=(Ref(record_id=cause.record_id, revision=1),), method="m", method_revision="1", evidence_ref="e"
    )
    gone = records.derive("Another.", whole)
    records.delete(gone)
    records.archive(derived)
    records.unarchive(derived)
    records.pin(cause)
    records.unpin(cause)
    records.mark_stale(derived, because=saved, confidence=0.5)
    notes = (CreateRecord(record=RecordInput(content=f"note {number}")) for number in range(3))
    done = records.submit_many(notes, keys="abc")
    assert ["a", "b", "c"] == [one.idempotency_key for one in done]
    each = [one for one in records.submit_each([CreateRecord(record=RecordInput(content="a note"))])]
    assert 1 == len(each)

    assert "active" == (records.get(cause)).state
    assert None is (records.get_many([cause, gone]))[gone.record_id]
    assert 6 <= len([one.record_id for one in records.list(limit=2)])
    assert [0] == [len(page.records) for page in records.list(tag="absent").pages()]
    assert "active" == (records.inspect(effect)).record.state
    assert "created" == (records.revision(effect, 1)).receipt.action
    assert 1 == len(records.annotated([saved], relations_limit=5))
    assert saved.record_id in [one.record.record_id for one in records.search("cable Monday", limit=5)]
    assert 2 == len((records.status([cause, derived])).statuses)
    assert (records.validate()).checked
    assert 0 == (records.needs_review(limit=5)).total
    assert (records.suggest_topic_key("The cable of rack 4", title="Cable")).topic_key
    affirmed = ConfirmationInput(record_id=cause.record_id, outcome="affirmed", evidence_ref="seen")
    assert 1 == len(records.confirm([affirmed]))

    relations.activate()
    claim = relations.assert_("causal_claim", cause, effect, evidence_ref="incident-17", if_absent=True)
    claim = relations.retire(claim, evidence_ref="e")
    claim = relations.restore(claim, evidence_ref="e")
    claim = relations.review(claim, "approved", evidence_ref="e")
    assert "active" == (relations.get(claim.relation_id)).state
    assert (relations.inspect(claim.relation_id)).eligibility.eligible
    assert "asserted" == (relations.revision(claim.relation_id, 1)).receipt.action
    assert [claim.relation_id] == [one.relation.relation_id for one in relations.list(endpoint=cause)]
    retire = RetireRelation(relation_id=claim.relation_id, expected_revision=1, evidence_ref="e")
    assert ["revision_conflict"] == [getattr(one, "code", "") for one in relations.submit_many([retire])]
    assert [409] == [getattr(one, "status", 0) for one in relations.submit_each([retire])]
    return Ref(record_id=cause.record_id, revision=1), claim.relation_id


def judge(memory: Memory, cause: Ref) -> None:
    """Judgments, links, edges, graphs, receipts."""
    judgments, edges = memory.judgments, memory.edges
    first = memory.records.save("Staging is deployed by app-staging.")
    second = memory.records.save("Staging is deployed by app-production.")
    results = judgments.judge([(one, "related") for one in second.candidates[:1]])
    assert [True] == [one.ok for one in results]
    assert () == judgments.judge([]), "nothing is asked for nothing"
    [pair] = judgments.submit([Pair(source=first.record_id, target=cause.record_id, similarity=0.5)])
    assert pair == (judgments.submit([(first, cause)]))[0]
    assert pair.candidate_id in [one.candidate_id for one in judgments.pending(min_age_millis=0, limit=50)]
    assert (judgments.judge([Judgment(candidate_id=pair.candidate_id, relation="not_conflict")]))[0].ok
    compared = judgments.compare(first, cause, "compatible", confidence=0.9)
    assert compared.receipt.relation_id == compared.judgment.relation_id
    swept = judgments.sweep()
    with suppress(RevisionConflict):
        judgments.undo(run_id=swept.run_id)

    link = memory.links.link(first, cause, "related")
    assert link == memory.receipt("link", link.idempotency_key)
    assert "unlinked" == (memory.links.unlink(first, cause)).action
    assert link == memory.recover(OutcomeUnknown("lost", link.idempotency_key, "link"))
    assert None is memory.recover(OutcomeUnknown("lost", "never used", "record"))

    edge = EdgeInput(source_id=first.record_id, target_id=cause.record_id, kind="supports", weight=0.5)
    assert (edges.replace(RUN, [edge])).finished
    proposal = Proposal(source_id=first.record_id, target_id=cause.record_id, kind="none", confidence=0.9)
    assert 1 == len(edges.promote(RUN, [proposal]))
    assert (edges.dangling()).complete
    assert () == (edges.repair()).moved
    walk = memory.graph.walk([cause], include_derived=True)
    assert walk.relations
    assert walk.mined
    assert 1 == edges.drop()
    assert 1 == len((memory.graph.evidence([cause])).nodes)
    assert (memory.graph.health()).records
    assert (memory.graph.overview(limit=5)).nodes
    assert "cable" in (memory.context("the cable of rack 4", shown=[cause])).block


def follow(memory: Memory) -> None:
    """Feeds, checkpoints and followers of both streams."""
    page = memory.records.changes(limit=2)
    first = page.changes[0].cursor
    saved = memory.records.save_checkpoint("by-hand", Advance(cursor=first))
    assert saved.checkpoint == memory.records.checkpoint("by-hand")
    assert saved == memory.records.checkpoint_revision("by-hand", 1)
    assert "compatible" == (memory.records.diagnose("by-hand", witness=first)).witness_status
    with memory.records.follow("mirror", through="tip", page=5) as changes:
        for change in changes:
            changes.commit(change)
        assert 0 == changes.lag()
        changes.reconcile(first, "by hand")
        changes.stop()
    assert 1 == (memory.records.checkpoint("mirror")).cursor.sequence
    with memory.relations.follow(start="now", through="tip") as nothing:
        assert [] == [one for one in nothing]
    assert (memory.relations.changes()).complete


def oversee(client: Client, record: Ref, relation_id: str) -> None:
    """The company's reads."""
    [found] = [one for one in client.company.workspaces()]
    consumers = [one.consumer_id for one in client.company.consumers("memory_records")]
    assert {"by-hand", "mirror"} == set(consumers)
    workspace = client.company.workspace(found.workspace_id)
    assert [one for one in workspace.records(view="current", limit=5)]
    assert "active" == (workspace.inspect_record(record)).record.state
    assert [one for one in workspace.relations(kind="causal_claim")]
    assert 4 == (workspace.inspect_relation(relation_id)).relation.revision
    assert 1 == (workspace.relation_revision(relation_id, 1)).relation.revision
    assert (workspace.walk([record])).relations
    assert 1 == len((workspace.evidence([record])).nodes)


def run(administrator: Client, worker: Client) -> None:
    """Everything that a worker does, and an administrator sees of it."""
    memory = worker.scope(provenance=SAID)
    assert SCOPE == memory.scope()
    record, relation_id = remember(memory)
    judge(memory, record)
    follow(memory)
    oversee(administrator, record, relation_id)
    administrator.close()
    worker.close()
