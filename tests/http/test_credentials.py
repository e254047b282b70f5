"""Credentials over the wire (access.md): who is let in, what they may, and from when on not any more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.http.client import (
    ABSENT,
    CREDENTIALS,
    FORBIDDEN,
    IDENTITY,
    INVALID,
    NO_RECORD,
    RECORDS,
    STALE,
    UNAUTHORIZED,
    Api,
    Caller,
    Json,
    accepted,
    fresh,
    issue,
    refusal,
    scope,
)

CHANGES: dict[str, Json] = {"rotate": {}, "revoke": {}, "scope-authority": {"authority": {"grants": []}}}


def change(admin: Caller, verb: str, of: Caller, revision: int = 1, **members: Any) -> Any:
    return admin.post(f"{CREDENTIALS}/{of.credential['id']}/{verb}", expected_revision=revision, **members)


def works(caller: Caller) -> bool:
    """Whether a credential is let in; anything but yes or 401 fails."""
    found = caller.get(IDENTITY)
    assert found.status_code in {200, 401}
    return found.status_code == 200


# Authentication


@pytest.mark.parametrize("form", ["Bearer {}", "bearer {}", "BEARER {}", "bEaReR {}"])
def test_the_scheme_is_bearer_in_any_case(form: str, api: Api, caller: Caller) -> None:
    assert 200 == api.send("GET", IDENTITY, headers={"authorization": form.format(caller.secret)}).status_code


@pytest.mark.parametrize(
    "form",
    ["{}", "Basic {}", "Bearer  {}", "Bearer\t{}", "Bearer", "Bearer {} x", "Bearer {}{}", "Bearer:{}", "Token {}"],
)
def test_any_other_form_is_unauthorized(form: str, api: Api, caller: Caller) -> None:
    found = api.send("GET", IDENTITY, headers={"authorization": form.replace("{}", caller.secret)})
    assert UNAUTHORIZED == refusal(found)
    assert "Bearer" == found.headers["www-authenticate"]


def test_one_authorization_header_is_needed_and_two_are_too_many(api: Api, caller: Caller) -> None:
    assert UNAUTHORIZED == refusal(api.send("GET", IDENTITY))
    header = ("Authorization", f"Bearer {caller.secret}")
    assert UNAUTHORIZED == refusal(api.send("GET", IDENTITY, headers=[header, header]))


@pytest.mark.parametrize(
    "alter", [str.upper, lambda s: s[:-1], lambda s: s + "A", lambda s: s[:-1] + ("A" if s[-1] != "A" else "B")]
)
def test_a_secret_that_is_slightly_wrong_is_unauthorized(alter: Any, caller: Caller) -> None:
    assert not works(replace(caller, secret=alter(caller.secret)))


def test_the_same_401_meets_every_wrong_token(api: Api, caller: Caller, admin: Caller) -> None:
    revoked = issue(admin)
    change(admin, "revoke", revoked)
    tokens = [
        "x",
        "x" * 128,
        "x" * 129,
        "rtm1_" + "0" * 32 + "_" + "A" * 43,
        revoked.secret,
        caller.secret[:-3] + "AAA",
    ]
    answers = {api.send("GET", IDENTITY, headers={"authorization": f"Bearer {one}"}).content for one in tokens}
    assert 1 == len(answers)


def test_a_caller_sees_its_own_credential_without_a_secret(caller: Caller) -> None:
    found = caller.get(IDENTITY)
    assert caller.credential == found.json()["credential"]
    assert caller.secret.rpartition("_")[2] not in found.text


# Issue


def test_an_issued_credential_says_what_it_was_issued_with(admin: Caller) -> None:
    at = scope(mission_id="m")
    spec = {"subject_id": "sub", "capabilities": ["memory_read"], "grants": [at], "expires_at_millis": 2**62}
    found = admin.post(CREDENTIALS, spec=spec)
    assert 201 == found.status_code
    credential = found.json()["credential"]
    assert (spec, "acme", 1, None) == (
        credential["spec"],
        credential["company_id"],
        credential["revision"],
        credential["revoked_at_millis"],
    )
    [event] = credential["history"]
    assert ("issued", 1, admin.get(IDENTITY).json()["credential"]["id"]) == (
        event["action"],
        event["revision"],
        event["actor_id"],
    )


BROKEN_SPECS: list[Json] = [
    {"subject_id": ""},
    {"subject_id": "x" * 257},
    {"capabilities": []},
    {"capabilities": ["memory_read", "memory_read"]},
    {"capabilities": ["memory_everything"]},
    {"grants": [{"project_id": " ", "agent_id": "a", "visibility": "shared"}]},
    {"grants": [{"project_id": "p", "agent_id": "a", "visibility": "public"}]},
    {"grants": [{"project_id": "p", "agent_id": "a", "visibility": "shared"}] * 2},
    {"expires_at_millis": 1},
    {"expires_at_millis": "soon"},
    {"company_id": "umbrella"},
    {"secret": "mine"},
]


@pytest.mark.parametrize("broken", BROKEN_SPECS, ids=str)
def test_a_broken_spec_is_refused(broken: Json, admin: Caller) -> None:
    spec = {"subject_id": "s", "capabilities": ["memory_read"], "grants": [scope()], **broken}
    assert INVALID == refusal(admin.post(CREDENTIALS, spec=spec))


def test_capabilities_imply_nothing(admin: Caller) -> None:
    at = scope()
    record_id = issue(admin, grants=[at], scope=at).create()["record_id"]

    def may(*capabilities: str) -> Caller:
        return issue(admin, capabilities=list(capabilities), grants=[at], scope=at)

    everything = may("memory_read", "memory_write", "memory_review", "memory_checkpoint", "memory_mine")
    assert FORBIDDEN == refusal(everything.get(CREDENTIALS, contract_version=1))
    assert FORBIDDEN == refusal(may("credential_admin").ask(f"{RECORDS}/read", record_id=record_id))
    assert FORBIDDEN == refusal(may("memory_write").ask(f"{RECORDS}/read", record_id=record_id))
    assert FORBIDDEN == refusal(may("memory_review").ask(f"{RECORDS}/inspect", record_id=record_id))
    assert FORBIDDEN == refusal(may("memory_read").ask(f"{RECORDS}/inspect", record_id=record_id))
    assert 200 == may("memory_read", "memory_review").ask(f"{RECORDS}/inspect", record_id=record_id).status_code


OPERATIONS: dict[str, tuple[Json, set[str]]] = {
    "create": ({"record": {"content": "c"}}, {"memory_write"}),
    "revise": ({"record_id": ABSENT, "expected_revision": 1, "record": {"content": "c"}}, {"memory_write"}),
    "delete": ({"record_id": ABSENT, "expected_revision": 1}, {"memory_write"}),
    "derive": (
        {
            "record": {"content": "c"},
            "derivation": {
                "sources": [{"record_id": ABSENT, "revision": 1}],
                "method": "m",
                "method_revision": "1",
                "evidence_ref": "e",
            },
        },
        {"memory_read", "memory_write"},
    ),
    "review": (
        {"record_id": ABSENT, "expected_revision": 1, "disposition": "approved", "evidence_ref": "e"},
        {"memory_read", "memory_review"},
    ),
}


@pytest.mark.parametrize("kind", OPERATIONS)
def test_each_operation_needs_its_capabilities_alone_and_in_a_batch(kind: str, admin: Caller) -> None:
    members, needed = OPERATIONS[kind]
    operation = {"type": kind, **members}
    free = {"idempotency_key": fresh("key"), "operation": operation}
    for missing in needed:
        lacking = issue(admin, capabilities=sorted({"memory_read", "memory_write", "memory_review"} - {missing}))
        assert FORBIDDEN == refusal(lacking.ask(f"{RECORDS}/commands", **free))
        assert FORBIDDEN == refusal(lacking.ask(f"{RECORDS}/commands/batch", commands=[free]))
    holder = issue(admin, capabilities=sorted(needed))
    assert FORBIDDEN != _status(holder.ask(f"{RECORDS}/commands", **free))


def _status(found: Any) -> tuple[int, str]:
    return refusal(found) if found.status_code >= 400 else (found.status_code, "")


# Rotation, revocation, authority


def test_after_a_rotation_the_old_secret_fails_on_the_very_next_request(admin: Caller) -> None:
    old = issue(admin)
    record = old.create()
    found = change(admin, "rotate", old)
    assert 200 == found.status_code
    new = replace(old, secret=found.json()["secret"])
    assert not works(old)
    assert works(new)
    credential = found.json()["credential"]
    assert old.credential["spec"] == credential["spec"]
    assert (2, ["issued", "rotated"]) == (credential["revision"], [one["action"] for one in credential["history"]])
    assert 200 == new.ask(f"{RECORDS}/read", record_id=record["record_id"]).status_code


def test_a_revoked_credential_fails_on_the_very_next_request_and_for_ever(admin: Caller) -> None:
    ended = issue(admin)
    assert works(ended)
    found = change(admin, "revoke", ended)
    assert found.json()["credential"]["revoked_at_millis"] is not None
    assert not works(ended)
    for verb, members in CHANGES.items():
        assert FORBIDDEN == refusal(change(admin, verb, ended, 2, **members))


def test_an_administrator_who_revokes_itself_is_out(admin: Caller) -> None:
    second = issue(admin, capabilities=["credential_admin"], grants=[])
    assert 200 == change(second, "revoke", second).status_code
    assert UNAUTHORIZED == refusal(second.get(CREDENTIALS, contract_version=1))


def test_a_stale_revision_is_a_conflict_and_changes_nothing(admin: Caller) -> None:
    credential = issue(admin)
    for verb, members in CHANGES.items():
        for revision in (0, 2):
            assert STALE == refusal(change(admin, verb, credential, revision, **members))
    assert credential.credential == credential.get(IDENTITY).json()["credential"]


def test_other_authority_is_in_force_on_the_very_next_request_under_the_same_secret(admin: Caller) -> None:
    holder, there = issue(admin), scope()
    record_id = holder.create()["record_id"]
    found = change(admin, "scope-authority", holder, authority={"grants": [there]})
    assert FORBIDDEN == refusal(holder.ask(f"{RECORDS}/read", record_id=record_id))
    assert NO_RECORD == refusal(holder.at(**there).ask(f"{RECORDS}/read", record_id=record_id))
    event = found.json()["credential"]["history"][-1]
    stored = [{**one, "mission_id": None} for one in (holder.scope, there)]
    assert ({"grants": [stored[0]]}, {"grants": [stored[1]]}) == (event["previous"], event["current"])


# Companies and partitions


def test_an_unknown_credential_and_a_foreign_one_are_the_same_403(admin: Caller, stranger: Caller) -> None:
    foreign = issue(stranger).credential["id"]
    looked_at, unknown = (admin.get(f"{CREDENTIALS}/{one}") for one in (foreign, ABSENT))
    assert FORBIDDEN == refusal(looked_at)
    assert looked_at.content == unknown.content
    for verb, members in CHANGES.items():
        changed, unknown = (
            admin.post(f"{CREDENTIALS}/{one}/{verb}", expected_revision=1, **members) for one in (foreign, ABSENT)
        )
        assert FORBIDDEN == refusal(changed)
        assert changed.content == unknown.content


def test_a_malformed_id_in_the_path_is_400_and_any_spelling_of_a_uuid_is_found(admin: Caller) -> None:
    credential = issue(admin).credential
    assert INVALID == refusal(admin.get(f"{CREDENTIALS}/not-a-uuid"))
    assert INVALID == refusal(admin.post(f"{CREDENTIALS}/not-a-uuid/rotate", expected_revision=1))
    for spelled in (credential["id"].upper(), credential["id"].replace("-", ""), f"urn:uuid:{credential['id']}"):
        assert credential == admin.get(f"{CREDENTIALS}/{spelled}").json()["credential"]


def test_the_list_has_every_credential_of_the_company_once_in_the_order_of_ids(stranger: Caller, admin: Caller) -> None:
    issued = {issue(stranger).credential["id"] for _ in range(3)}
    elsewhere = issue(admin).credential["id"]
    seen: list[str] = []
    after = None
    while True:
        query = {"contract_version": 1, "limit": 2} | ({} if after is None else {"after": after})
        page = stranger.get(CREDENTIALS, **query).json()
        assert 1 <= len(page["credentials"]) <= 2
        seen += [one["id"] for one in page["credentials"]]
        after = page["next_after"]
        if after is None:
            break
        assert seen[-1] == after
    assert sorted(set(seen)) == seen
    assert issued <= set(seen)
    assert elsewhere not in seen


@pytest.mark.parametrize(
    "query",
    [
        "",
        "limit=5",
        "contract_version=1&limit=0",
        "contract_version=1&limit=101",
        "contract_version=1&limit=+5",
        "contract_version=1&limit=5.0",
        "contract_version=1&limit=05",
        "contract_version=1&limit=",
        "contract_version=1&limit=null",
        "contract_version=1&limit=NULL",
        "contract_version=1&after=null",
        "contract_version=null",
        "contract_version=1&limit=five",
        "contract_version=1&contract_version=1",
        "contract_version=1&after=x",
        "contract_version=1&offset=3",
        "contract_version=%ff",
        "contract_version=true",
    ],
)
def test_a_query_string_is_as_strict_as_a_body(query: str, admin: Caller) -> None:
    assert INVALID == refusal(admin.api.send("GET", f"{CREDENTIALS}?{query}", headers=admin.headers))


def test_another_version_in_a_query_string_is_unsupported(admin: Caller) -> None:
    assert (400, "unsupported_contract_version") == refusal(admin.get(CREDENTIALS, contract_version=2))


def test_a_private_partition_is_its_subjects_own(admin: Caller) -> None:
    private = scope(visibility="private")
    ada, ada_too, eve = (issue(admin, subject_id=one, grants=[private], scope=private) for one in ("ada", "ada", "eve"))
    record_id = ada.create()["record_id"]
    assert 200 == ada_too.ask(f"{RECORDS}/read", record_id=record_id).status_code
    foreign = eve.ask(f"{RECORDS}/read", record_id=record_id)
    assert NO_RECORD == refusal(foreign)
    assert foreign.content == eve.ask(f"{RECORDS}/read", record_id=ABSENT).content


def test_a_second_credential_of_a_subject_replays_receipts_with_their_first_author(admin: Caller) -> None:
    first = issue(admin, subject_id="ada")
    second = issue(admin, subject_id="ada", grants=[first.scope], scope=first.scope)
    other = issue(admin, subject_id="bob", grants=[first.scope], scope=first.scope)
    operation: Json = {"type": "create", "record": {"content": "c"}}
    given = first.command(RECORDS, "k", **operation)
    assert given.content == second.command(RECORDS, "k", **operation).content
    assert first.credential["id"] == accepted(given)["author"]["credential_id"]
    assert accepted(given)["record_id"] != accepted(other.command(RECORDS, "k", **operation))["record_id"]
