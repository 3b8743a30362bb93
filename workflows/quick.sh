#!/bin/sh
# One agent, from beginning to end: make its worktree, run it there, land what it committed.
#
#   QUICK_WORKTREE_MANIFEST=/tmp/quick.json quick.sh my-agent --task 'fix the parser'
#
# QUICK_WORKTREE_MANIFEST  the manifest; required, and it must hold no agent yet.
# QUICK_AGENT_ID           what the agent is called.  [quick]
# EXPECTED_BRANCH          the branch that the checkout must be on.  [the one that it is on at the start]
# ORCHESTRATOR_ROOT        the checkout that this must be run in.  [the current one, if it is no agent's worktree]
#
# Standard output is the result of cleanup-wave, one JSON document; everything else is on standard error.
set -eu

die() {
  printf 'quick: %s\n' "$1" >&2
  exit 1
}

[ -n "${QUICK_WORKTREE_MANIFEST:-}" ] || die 'QUICK_WORKTREE_MANIFEST is unset or empty'
case $QUICK_WORKTREE_MANIFEST in
  /*) ;;
  *) die "QUICK_WORKTREE_MANIFEST is no absolute path: $QUICK_WORKTREE_MANIFEST" ;;
esac
[ $# -gt 0 ] || die 'there is no command to run'

# Called from a git hook, these would outrank the current directory.
# shellcheck disable=SC2046  # names of variables, one a line
unset $(git rev-parse --local-env-vars)

root=$(git rev-parse --show-toplevel) || die 'the current directory is in no checkout'
if [ -n "${ORCHESTRATOR_ROOT:-}" ]; then
  expected_root=$(cd "$ORCHESTRATOR_ROOT" && pwd -P) || die "ORCHESTRATOR_ROOT cannot be entered: $ORCHESTRATOR_ROOT"
  [ "$root" = "$expected_root" ] || die "the working directory has drifted: it is in $root, not in $expected_root"
else
  own=$(git rev-parse --path-format=absolute --git-dir) || die 'git does not say where its directory is'
  common=$(git rev-parse --path-format=absolute --git-common-dir) || die 'git does not say where its directory is'
  [ "$own" = "$common" ] || die "the working directory has drifted: $root is a linked worktree; say ORCHESTRATOR_ROOT"
fi
branch=$(git -C "$root" symbolic-ref --quiet --short HEAD) || die "$root is on no branch"
[ "$branch" = "${EXPECTED_BRANCH:-$branch}" ] || die "$root is on $branch, not on $EXPECTED_BRANCH"

id=${QUICK_AGENT_ID:-quick}
git wave init --manifest "$QUICK_WORKTREE_MANIFEST" --root "$root" >&2 || exit 1
made=$(git wave create --manifest "$QUICK_WORKTREE_MANIFEST" --agent-id "$id" --root "$root" --format text) || exit 1
tree=${made#*  }
[ -d "$tree" ] || die "no worktree at $tree"

(cd "$tree" && AGENT_ID="$id" "$@") >&2 || die "the agent failed; its worktree is $tree. Nothing was landed."

cleanup-wave --manifest "$QUICK_WORKTREE_MANIFEST" --root "$root" --expect-branch "$branch" --format json ||
  die 'it did not land; the result says why, and what to do next'
