"""Every reason and warning code there is. A code is published: it may be added, never renamed.

Stages and verbs name their findings by `Reason`; what each means and what to do stands in `explanations`.
"""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """A code as it stands in JSON."""

    OK = "ok"
    ALREADY_LANDED = "already_landed"

    INVALID_ENTRY = "invalid_entry"
    BRANCH_MISMATCH = "branch_mismatch"
    MAIN_WORKTREE = "main_worktree"
    BASE_MISMATCH = "base_mismatch"
    BASE_CHECK_FAILED = "base_check_failed"
    BRANCH_CONTAINS_DELETIONS = "branch_contains_deletions"
    DELETION_CHECK_FAILED = "deletion_check_failed"
    SUMMARY_RESCUE_FAILED = "summary_rescue_failed"
    WORKTREE_DIRTY = "worktree_dirty"
    DIRT_CHECK_FAILED = "dirt_check_failed"
    MERGE_FAILED = "merge_failed"
    MERGE_TIMED_OUT = "merge_timed_out"
    WOULD_OVERWRITE = "would_overwrite"
    TARGET_MOVED = "target_moved"
    WORKTREE_REMOVE_FAILED = "worktree_remove_failed"
    WORKTREE_LOCKED = "worktree_locked"
    BRANCH_MOVED = "branch_moved"
    BRANCH_DELETE_FAILED = "branch_delete_failed"
    INTERRUPTED = "interrupted"

    ACCEPTED_ABSENT_WORKTREE = "accepted_absent_worktree"
    SCOPE_OUT_OF_DECLARED = "scope_out_of_declared"
    SCOPE_CHECK_UNAVAILABLE = "scope_check_unavailable"
    DUPLICATE_ENTRY = "duplicate_entry"
    SUMMARY_RESCUED = "summary_rescued"
    IGNORED_OUTPUT_KEPT = "ignored_output_kept"

    CLEANUP_BLOCKED = "cleanup_blocked"
    MANIFEST_ENTRIES_PRESENT = "manifest_entries_present"
    EMPTY_MANIFEST = "empty_manifest"
    MANIFEST_READ_FAILED = "manifest_read_failed"
    INVALID_MANIFEST_JSON = "invalid_manifest_json"
    MANIFEST_SHAPE_INVALID = "manifest_shape_invalid"
    MANIFEST_WRITE_FAILED = "manifest_write_failed"
    MANIFEST_NOT_EMPTY = "manifest_not_empty"
    ROOT_MISMATCH = "root_mismatch"
    NOT_A_CHECKOUT = "not_a_checkout"
    UNEXPECTED_BRANCH = "unexpected_branch"
    REPO_BUSY = "repo_busy"
    DETACHED_HEAD = "detached_head"
    UNBORN_HEAD = "unborn_head"
    GIT_MISSING = "git_missing"
    GIT_TOO_OLD = "git_too_old"
    CONFIG_INVALID = "config_invalid"
    GIT_FAILED = "git_failed"
    INTERNAL_ERROR = "internal_error"
    REPO_LOCKED = "repo_locked"
    WAVE_LOCKED = "wave_locked"
    STATE_UNWRITABLE = "state_unwritable"
    JOURNAL_FAILED = "journal_failed"

    UNDONE = "undone"
    UNDO_BLOCKED = "undo_blocked"
    NOTHING_TO_UNDO = "nothing_to_undo"
    UNKNOWN_WAVE = "unknown_wave"

    PROBLEMS_FOUND = "problems_found"

    MISSING_FIELD = "missing_field"
    CHECK_FAILED = "check_failed"

    ROOT_REQUIRED = "root_required"
    PATH_OUTSIDE_ROOT = "path_outside_root"
    BASE_UNRESOLVED = "base_unresolved"
    BASE_NOT_HEAD = "base_not_head"
    NO_COMMIT = "no_commit"
    BRANCH_EXISTS = "branch_exists"
    PATH_EXISTS = "path_exists"
    WORKTREE_ADD_FAILED = "worktree_add_failed"
    WORKTREE_ADD_TIMED_OUT = "worktree_add_timed_out"
    REPLAY_FAILED = "replay_failed"
    REPLAY_TOO_LARGE = "replay_too_large"
    COMMIT_FAILED = "commit_failed"
    ALREADY_CREATED = "already_created"
    BASELINE_HOLDS_EDITS = "baseline_holds_edits"
    REPLAY_SKIPPED = "replay_skipped"
    UNFINISHED_CREATE_UNDONE = "unfinished_create_undone"
    UNFINISHED_CREATE_KEPT = "unfinished_create_kept"
