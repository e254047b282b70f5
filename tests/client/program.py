"""A program that uses every method of the asynchronous client; the blocking form of it is made of it."""

from __future__ import annotations

from contextlib import suppress

from relatum.client import (
    Advance,
    AsyncClient,
    AsyncMemory,
    Authority,
    ConfirmationInput,
    CreateRecord,
    CredentialSpec,
    Derivation,
    EdgeInput,
    Judgment,
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


async def administer(client: AsyncClient) -> Secret:
    """What an administrator can do, but for the reads of workspaces; answers a worker's secret."""
    health = await client.health()
    assert "healthy" == health.status
    assert "ready" == (await client.ready()).status
    assert "root" == (await client.identity()).spec.subject_id
    credential, _ = await client.credentials.issue(SPEC)
    rotated, secret = await client.credentials.rotate(credential.id, expected_revision=1)
    limited = await client.credentials.set_authority(
        credential.id, expected_revision=rotated.revision, authority=Authority(grants=(SCOPE,))
    )
    assert limited == await client.credentials.get(credential.id)
    other, _ = await client.with_options(timeout=5.0, deadline=20.0).credentials.issue(SPEC)
    assert (await client.credentials.revoke(other.id, expected_revision=1)).revoked_at_millis is not None
    assert 3 == len([one.id async for one in client.credentials.list(limit=1)])
    answer = await client.call("/api/v1/identity", retry="read")
    assert 1 == answer["contract_version"]
    return secret


async def remember(memory: AsyncMemory) -> tuple[Ref, str]:
    """Commands and reads of records and relations; answers a record and a relation."""
    records, relations = memory.records, memory.relations
    await records.activate()
    cause = await records.create("The cable of rack 4 was pulled out.", tags=["rack-4"], event_time_millis=1)
    effect = await records.create(RecordInput(content="The build server was unreachable.", event_time_millis=2))
    saved = await records.save("The cable of rack 4 was pulled out on Monday.", topic_key="rack-4/cable")
    assert saved.judgment_required
    effect = await records.revise(effect, "The build server was unreachable for an hour.")
    effect = await records.review(effect, "approved", evidence_ref="review-1")
    derived = await records.derive("A cable.", [cause], method="summary", method_revision="1", evidence_ref="e")
    whole = Derivation(
        sources=(Ref(record_id=cause.record_id, revision=1),), method="m", method_revision="1", evidence_ref="e"
    )
    gone = await records.derive("Another.", whole)
    await records.delete(gone)
    await records.archive(derived)
    await records.unarchive(derived)
    await records.pin(cause)
    await records.unpin(cause)
    await records.mark_stale(derived, because=saved, confidence=0.5)
    notes = (CreateRecord(record=RecordInput(content=f"note {number}")) for number in range(3))
    done = await records.submit_many(notes, keys="abc")
    assert ["a", "b", "c"] == [one.idempotency_key for one in done]
    each = [one async for one in records.submit_each([CreateRecord(record=RecordInput(content="a note"))])]
    assert 1 == len(each)

    assert "active" == (await records.get(cause)).state
    assert None is (await records.get_many([cause, gone]))[gone.record_id]
    assert 6 <= len([one.record_id async for one in records.list(limit=2)])
    assert [0] == [len(page.records) async for page in records.list(tag="absent").pages()]
    assert "active" == (await records.inspect(effect)).record.state
    assert "created" == (await records.revision(effect, 1)).receipt.action
    assert 1 == len(await records.annotated([saved], relations_limit=5))
    assert saved.record_id in [one.record.record_id for one in await records.search("cable Monday", limit=5)]
    assert 2 == len((await records.status([cause, derived])).statuses)
    assert (await records.validate()).checked
    assert 0 == (await records.needs_review(limit=5)).total
    assert (await records.suggest_topic_key("The cable of rack 4", title="Cable")).topic_key
    affirmed = ConfirmationInput(record_id=cause.record_id, outcome="affirmed", evidence_ref="seen")
    assert 1 == len(await records.confirm([affirmed]))

    await relations.activate()
    claim = await relations.assert_("causal_claim", cause, effect, evidence_ref="incident-17", if_absent=True)
    claim = await relations.retire(claim, evidence_ref="e")
    claim = await relations.restore(claim, evidence_ref="e")
    claim = await relations.review(claim, "approved", evidence_ref="e")
    assert "active" == (await relations.get(claim.relation_id)).state
    assert (await relations.inspect(claim.relation_id)).eligibility.eligible
    assert "asserted" == (await relations.revision(claim.relation_id, 1)).receipt.action
    assert [claim.relation_id] == [one.relation.relation_id async for one in relations.list(endpoint=cause)]
    retire = RetireRelation(relation_id=claim.relation_id, expected_revision=1, evidence_ref="e")
    assert ["revision_conflict"] == [getattr(one, "code", "") for one in await relations.submit_many([retire])]
    assert [409] == [getattr(one, "status", 0) async for one in relations.submit_each([retire])]
    return Ref(record_id=cause.record_id, revision=1), claim.relation_id


async def judge(memory: AsyncMemory, cause: Ref) -> None:
    """Judgments, links, edges, graphs, receipts."""
    judgments, edges = memory.judgments, memory.edges
    first = await memory.records.save("Staging is deployed by app-staging.")
    second = await memory.records.save("Staging is deployed by app-production.")
    results = await judgments.judge([(one, "related") for one in second.candidates[:1]])
    assert [True] == [one.ok for one in results]
    assert () == await judgments.judge([]), "nothing is asked for nothing"
    [pair] = await judgments.submit([Pair(source=first.record_id, target=cause.record_id, similarity=0.5)])
    assert pair == (await judgments.submit([(first, cause)]))[0]
    assert pair.candidate_id in [one.candidate_id async for one in judgments.pending(min_age_millis=0, limit=50)]
    assert (await judgments.judge([Judgment(candidate_id=pair.candidate_id, relation="not_conflict")]))[0].ok
    compared = await judgments.compare(first, cause, "compatible", confidence=0.9)
    assert compared.receipt.relation_id == compared.judgment.relation_id
    swept = await judgments.sweep()
    with suppress(RevisionConflict):
        await judgments.undo(run_id=swept.run_id)

    link = await memory.links.link(first, cause, "related")
    assert link == await memory.receipt("link", link.idempotency_key)
    assert "unlinked" == (await memory.links.unlink(first, cause)).action
    assert link == await memory.recover(OutcomeUnknown("lost", link.idempotency_key, "link"))
    assert None is await memory.recover(OutcomeUnknown("lost", "never used", "record"))

    edge = EdgeInput(source_id=first.record_id, target_id=cause.record_id, kind="supports", weight=0.5)
    assert (await edges.replace(RUN, [edge])).finished
    proposal = Proposal(source_id=first.record_id, target_id=cause.record_id, kind="none", confidence=0.9)
    assert 1 == len(await edges.promote(RUN, [proposal]))
    assert (await edges.dangling()).complete
    assert () == (await edges.repair()).moved
    walk = await memory.graph.walk([cause], include_derived=True)
    assert walk.relations
    assert walk.mined
    assert 1 == await edges.drop()
    assert 1 == len((await memory.graph.evidence([cause])).nodes)
    assert (await memory.graph.health()).records
    assert (await memory.graph.overview(limit=5)).nodes
    assert "cable" in (await memory.context("the cable of rack 4", shown=[cause])).block


async def follow(memory: AsyncMemory) -> None:
    """Feeds, checkpoints and followers of both streams."""
    page = await memory.records.changes(limit=2)
    first = page.changes[0].cursor
    saved = await memory.records.save_checkpoint("by-hand", Advance(cursor=first))
    assert saved.checkpoint == await memory.records.checkpoint("by-hand")
    assert saved == await memory.records.checkpoint_revision("by-hand", 1)
    assert "compatible" == (await memory.records.diagnose("by-hand", witness=first)).witness_status
    async with memory.records.follow("mirror", through="tip", page=5) as changes:
        async for change in changes:
            await changes.commit(change)
        assert 0 == await changes.lag()
        await changes.reconcile(first, "by hand")
        changes.stop()
    assert 1 == (await memory.records.checkpoint("mirror")).cursor.sequence
    async with memory.relations.follow(start="now", through="tip") as nothing:
        assert [] == [one async for one in nothing]
    assert (await memory.relations.changes()).complete


async def oversee(client: AsyncClient, record: Ref, relation_id: str) -> None:
    """The company's reads."""
    [found] = [one async for one in client.company.workspaces()]
    consumers = [one.consumer_id async for one in client.company.consumers("memory_records")]
    assert {"by-hand", "mirror"} == set(consumers)
    workspace = client.company.workspace(found.workspace_id)
    assert [one async for one in workspace.records(view="current", limit=5)]
    assert "active" == (await workspace.inspect_record(record)).record.state
    assert [one async for one in workspace.relations(kind="causal_claim")]
    assert 4 == (await workspace.inspect_relation(relation_id)).relation.revision
    assert 1 == (await workspace.relation_revision(relation_id, 1)).relation.revision
    assert (await workspace.walk([record])).relations
    assert 1 == len((await workspace.evidence([record])).nodes)


async def run(administrator: AsyncClient, worker: AsyncClient) -> None:
    """Everything that a worker does, and an administrator sees of it."""
    memory = worker.scope(provenance=SAID)
    assert SCOPE == await memory.scope()
    record, relation_id = await remember(memory)
    await judge(memory, record)
    await follow(memory)
    await oversee(administrator, record, relation_id)
    await administrator.aclose()
    await worker.aclose()
