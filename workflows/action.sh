#!/bin/sh
# Lands a wave in a CI job: the table goes to the job's summary, the outcome to the job's outputs. Fails when anything
# did not land. Everything comes in variables, so that no value is ever taken for a shell word.
#
# WAVE_MANIFEST       the manifest; required.
# WAVE_ROOT           the checkout to land into.  [the manifest's, else the current one]
# WAVE_EXPECT_BRANCH  refuse unless the checkout is on this branch.
# WAVE_DRY_RUN        `true` only says what would happen.
set -eu

manifest=${WAVE_MANIFEST:-}
if [ -z "$manifest" ]; then
  echo '::error::the input "manifest" is empty' >&2
  exit 1
fi

set -- --manifest "$manifest" --format markdown
[ -z "${WAVE_ROOT:-}" ] || set -- "$@" --root "$WAVE_ROOT"
[ -z "${WAVE_EXPECT_BRANCH:-}" ] || set -- "$@" --expect-branch "$WAVE_EXPECT_BRANCH"
case ${WAVE_DRY_RUN:-false} in
  true) set -- "$@" --dry-run ;;
  false) ;;
  *)
    echo '::error::the input "dry-run" is neither true nor false' >&2
    exit 1
    ;;
esac

code=0
summary=$(cleanup-wave "$@") || code=$?
printf '%s\n' "$summary" >>"${GITHUB_STEP_SUMMARY:-/dev/stdout}"
[ "$code" -eq 0 ] && landed=true || landed=false
printf 'landed=%s\n' "$landed" >>"${GITHUB_OUTPUT:-/dev/null}"
exit "$code"
