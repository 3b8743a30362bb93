"""Reading a manifest: lenient about shape, strict about loss.

Bytes go in, a `Manifest` comes out, and every entry of the file is in it: usable, or invalid with each
error found. `record-agent` validates with the same `entry_from`, so what it writes reads back.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
)

from git_wave.model import strict_json
from git_wave.model.entry import Advice, Entry, InvalidEntry, Manifest, Problem
from git_wave.model.errors import Refusal
from git_wave.model.names import (
    COMMIT_ID_PATTERN,
    CONTROL,
    DEFAULT_BRANCH_PATTERN,
    accepted_forms,
    branch_name_error,
    is_commit_id,
    is_encodable,
)
from git_wave.model.reasons import Reason


def text_list(value: Any) -> list[str]:
    """Lenient: a value that is no list says nothing, and neither do empty or non-text items of one."""
    if not isinstance(value, list):
        return []
    return [item for item in value if isinstance(item, str) and item.strip()]


def filled(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be blank")
    if "\x00" in value or not is_encodable(value):
        raise ValueError("holds a character that no path or name can hold")
    return value


def commit_id(value: str) -> str:
    # A name would mean another commit once the wave itself has moved it, and block its own rerun.
    if not is_commit_id(value):
        raise ValueError(f"{value!r} is no commit id of 4 to 64 hexadecimal digits, and names move: {ASK_GIT}")
    return value


def commit_or_nothing(value: Any) -> str | None:
    """Lenient: what is no commit id says nothing."""
    return value if isinstance(value, str) and is_commit_id(value) else None


def inside_namespace(value: str, info: ValidationInfo) -> str:
    pattern = (info.context or {}).get("branch_pattern", DEFAULT_BRANCH_PATTERN)
    if re.search(pattern, value) is None or CONTROL.search(value):
        raise ValueError(f"{value!r} does not match the branch pattern; {accepted_forms(pattern)}")
    if why := branch_name_error(value):
        raise ValueError(f"{value!r} is no valid git branch name: {why}; {accepted_forms(pattern)}")
    return value


def agent_name(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


ASK_GIT = "give the id that `git rev-parse` prints for it"
Text = Annotated[str, AfterValidator(filled)]
TextList = Annotated[list[str], BeforeValidator(text_list)]


class ManifestEntry(BaseModel):
    """One agent's worktree and branch, as `record-agent` writes it."""

    model_config = ConfigDict(extra="allow", strict=True, title="entry")

    agent_id: Annotated[str | None, BeforeValidator(agent_name)] = Field(None, description="who worked there")
    worktree_path: Text = Field(
        validation_alias=AliasChoices("worktree_path", "path"),
        description="the linked worktree; a relative path is taken from the repository root",
    )
    branch: Annotated[Text, AfterValidator(inside_namespace)] = Field(description="its branch, without refs/heads/")
    expected_base: Annotated[Text, AfterValidator(commit_id)] = Field(
        description="the id of the commit it forked from, full or abbreviated; never a name, since a name moves"
    )
    allowed_bases: TextList = Field([], description="ids of more commits that are also right")
    files_modified: TextList = Field([], description="declared scope; empty or absent means unknown")
    declared_deletions: TextList = Field([], description="paths that the plan said it would delete")
    baseline: Annotated[str | None, BeforeValidator(commit_or_nothing)] = Field(
        None, description="the commit that holds what was uncommitted in the checkout when the worktree was made"
    )


class ManifestFile(BaseModel):
    """A wave: the checkout to land into, and the agents' worktrees."""

    model_config = ConfigDict(extra="allow", title="git-wave manifest")

    orchestrator_root: str | None = Field(None, description="absolute path of the checkout to land into")
    worktrees: list[ManifestEntry] = Field(description="one entry per agent")


def entry_from(raw: Any, index: int, pointer: str, branch_pattern: str) -> Entry | InvalidEntry:
    """The entry that `raw` describes, or every reason why it describes none."""
    try:
        model = ManifestEntry.model_validate(raw, context={"branch_pattern": branch_pattern})
    except ValidationError as error:
        problems = tuple(
            Problem(f"{pointer}/{'/'.join(map(str, e['loc']))}".rstrip("/"), message_of(e)) for e in error.errors()
        )
        return InvalidEntry(index, raw, problems)
    bases = dict.fromkeys([model.expected_base, *(b for b in model.allowed_bases if is_commit_id(b))])
    extra = {k: v for k, v in (model.model_extra or {}).items() if k != "path"}
    return Entry(
        index,
        model.agent_id,
        model.worktree_path,
        model.branch,
        model.expected_base,
        tuple(bases),
        tuple(model.files_modified),
        tuple(model.declared_deletions),
        model.baseline,
        extra,
    )


def message_of(error: Any) -> str:
    """pydantic's words without its decoration."""
    if error["type"] == "missing":
        return "is required"
    if error["type"] == "model_type":
        return "must be an object"
    return str(error["msg"]).removeprefix("Value error, ")


def parse_json(data: bytes) -> Any:
    """The JSON document in `data`.

    Raises Refusal with `invalid_manifest_json`, or `manifest_shape_invalid` for a key that stands twice in
    one object: the parser would drop one of the two, and with it perhaps a whole list of entries.
    """

    try:
        return strict_json.loads(data.decode("utf-8-sig"))
    except strict_json.RepeatedKeys as error:
        raise Refusal(Reason.MANIFEST_SHAPE_INVALID, str(error)) from error
    except ValueError as error:
        raise Refusal(Reason.INVALID_MANIFEST_JSON, str(error)) from error


def entries_in(document: Any) -> list[Any]:
    """The raw entries of a parsed manifest, the very list, so that a writer can append to it."""
    entries = document.get("worktrees") if isinstance(document, dict) else document
    if not isinstance(entries, list):
        place = "/worktrees" if isinstance(document, dict) and "worktrees" in document else "/"
        wanted = "a manifest is an array of entries, or an object with an array `worktrees`"
        raise Refusal(Reason.MANIFEST_SHAPE_INVALID, f"{place}: {wanted}")
    return entries


def root_in(document: Any) -> str | None:
    """The `orchestrator_root` of a parsed manifest; None when it names none."""
    root = document.get("orchestrator_root") if isinstance(document, dict) else None
    if root is not None and (not isinstance(root, str) or not root.startswith("/") or "\x00" in root):
        raise Refusal(Reason.MANIFEST_SHAPE_INVALID, "/orchestrator_root: must be an absolute path")
    return root


def pointer_base(document: Any) -> str:
    """The JSON pointer of the list of entries."""
    return "/worktrees" if isinstance(document, dict) else ""


def manifest_from(document: Any, branch_pattern: str = DEFAULT_BRANCH_PATTERN) -> Manifest:
    """The manifest in a parsed document. Raises Refusal with `manifest_shape_invalid`."""
    kept: list[Entry | InvalidEntry] = []
    warnings: list[Advice] = []
    notes: list[Problem] = []
    seen: dict[tuple[str, str], Entry] = {}
    base, root = pointer_base(document), root_in(document)
    for index, raw in enumerate(entries_in(document)):
        entry = entry_from(raw, index, f"{base}/{index}", branch_pattern)
        if isinstance(entry, Entry):
            first = seen.setdefault(entry.key(root), entry)
            if first is not entry:
                detail = f"entry {index} repeats entry {first.index}, which is the one used"
                warnings.append(Advice(Reason.DUPLICATE_ENTRY, entry.branch, entry.worktree_path, detail))
                notes.append(Problem(f"{base}/{index}", detail))
                continue
        kept.append(entry)
    return Manifest(root, tuple(kept), tuple(warnings), tuple(notes))


def manifest_schema() -> dict[str, Any]:
    """The published JSON Schema (2020-12) of a manifest."""
    schema = ManifestFile.model_json_schema(by_alias=False)
    definitions = schema.pop("$defs")
    entry = definitions["ManifestEntry"]
    entry["properties"]["path"] = {"type": "string", "description": "read as an alias of worktree_path"}
    entry["required"].remove("worktree_path")
    entry["anyOf"] = [{"required": ["worktree_path"]}, {"required": ["path"]}]
    entry["properties"]["branch"]["pattern"] = DEFAULT_BRANCH_PATTERN
    entry["properties"]["expected_base"]["pattern"] = COMMIT_ID_PATTERN
    entry["properties"]["allowed_bases"]["items"]["pattern"] = COMMIT_ID_PATTERN
    entry["properties"]["baseline"]["anyOf"][0]["pattern"] = COMMIT_ID_PATTERN
    for name in ("worktree_path", "branch"):
        entry["properties"][name]["minLength"] = 1
    wave = {key: schema.pop(key) for key in list(schema) if key not in ("title", "description")}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "$defs": {**definitions, "Wave": wave},
        "anyOf": [
            {"$ref": "#/$defs/Wave"},
            {"type": "array", "items": {"$ref": "#/$defs/ManifestEntry"}},
        ],
    }
