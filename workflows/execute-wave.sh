#!/bin/sh
# A wave from beginning to end: make a worktree for each agent, run them all, wait, land.
#
#   WAVE_WORKTREE_MANIFEST=/tmp/wave.json AGENT_COMMAND='my-agent --task "$AGENT_ID"' execute-wave.sh one two three
#   WAVE_WORKTREE_MANIFEST=/tmp/wave.json execute-wave.sh      # land what is recorded in the manifest already
#
# WAVE_WORKTREE_MANIFEST  the manifest; required. With agents it must not hold any yet.
# AGENT_COMMAND           shell command for one agent, run in its worktree with AGENT_ID set; required with agents.
# EXPECTED_BRANCH         the branch that the checkout must be on.  [the one that it is on at the start]
# ORCHESTRATOR_ROOT       the checkout that this must be run in.  [the current one, if it is no agent's worktree]
#
# Standard output is the result of cleanup-wave, one JSON document; everything else is on standard error. Exit 0 means
# that every agent's work is merged and cleared away. Whatever is not as it should be stops it before anything is
# touched. Each step is followed by its own `|| exit 1`, so nothing depends on `set -e` or on where this is called from.
set -eu

die() {
  printf 'execute-wave: %s\n' "$1" >&2
  exit 1
}

# --- is everything as it should be?

[ -n "${WAVE_WORKTREE_MANIFEST:-}" ] || die 'WAVE_WORKTREE_MANIFEST is unset or empty'
case $WAVE_WORKTREE_MANIFEST in
  /*) ;;
  *) die "WAVE_WORKTREE_MANIFEST is no absolute path: $WAVE_WORKTREE_MANIFEST" ;;
esac
[ $# -eq 0 ] || [ -n "${AGENT_COMMAND:-}" ] || die 'AGENT_COMMAND is unset or empty, and there are agents to run'

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

# --- a worktree for each agent; nothing is started before all of them are there

if [ $# -gt 0 ]; then
  git wave init --manifest "$WAVE_WORKTREE_MANIFEST" --root "$root" >&2 || exit 1
  count=$#
  for id in "$@"; do
    # The answer is "branch  directory", and a branch holds no space.
    made=$(git wave create --manifest "$WAVE_WORKTREE_MANIFEST" --agent-id "$id" --root "$root" --format text) || exit 1
    tree=${made#*  }
    [ -d "$tree" ] || die "no worktree at $tree"
    set -- "$@" "$id" "$tree"
  done
  shift "$count"

  # --- the agents, all at once

  running=''
  trap 'kill $running 2>/dev/null; exit 130' INT
  trap 'kill $running 2>/dev/null; exit 143' TERM
  ids=''
  while [ $# -gt 0 ]; do
    (
      cd "$2" || exit 1
      export AGENT_ID="$1"
      exec sh -c "$AGENT_COMMAND"
    ) >&2 &
    running="$running $!"
    ids="$ids $1"
    shift 2
  done
  failed=''
  # shellcheck disable=SC2086  # ids hold no white space: create takes none
  set -- $ids
  for pid in $running; do
    wait "$pid" || failed="$failed $1"
    shift
  done
  running=''
  [ -z "$failed" ] || die "agents failed:$failed. Nothing was landed. To land what they committed all the same:
  cleanup-wave --manifest '$WAVE_WORKTREE_MANIFEST' --expect-branch '$branch' --root '$root'"
fi

# --- land

[ -f "$WAVE_WORKTREE_MANIFEST" ] || die "there is no manifest at $WAVE_WORKTREE_MANIFEST"
cleanup-wave --manifest "$WAVE_WORKTREE_MANIFEST" --root "$root" --expect-branch "$branch" --format json ||
  die 'not everything landed; the result says what, why, and what to do next'
