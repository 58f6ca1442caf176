# The parts of a run: each has a name, a time limit, and perhaps parts that it needs.
# `.ci/run` reads this file; so do the tests.

declare -A verdicts=() # ok, FAILED or skipped, by name
failed=0
summary=""
LIMIT_MINUTES=25 # only what hangs takes as long

# part NAME [--needs PART]... COMMAND...: a failure is remembered, and the next part still runs, so
# that one run shows all that is wrong. A part that needs one that did not succeed is skipped.
part() {
    local name=$1 start=$SECONDS verdict=ok code=0 missing=""
    shift
    while [[ $1 == --needs ]]; do
        [[ -v "verdicts[$2]" ]] || { printf '%s needs %s, which is no part\n' "$name" "$2" >&2; exit 2; }
        [[ ${verdicts[$2]} == ok ]] || missing+="${missing:+, }$2"
        shift 2
    done
    printf '\n=== %s\n' "$name"
    if [[ -n $missing ]]; then
        verdict=skipped
        printf 'skipped: needs %s\n' "$missing"
    else
        timeout --kill-after=10 "${LIMIT_MINUTES}m" "$@" </dev/null || code=$?
        [[ $code == 0 ]] || { verdict=FAILED && failed=1; }
        [[ $code != 124 && $code != 137 ]] || printf 'ended after %s minutes\n' "$LIMIT_MINUTES"
    fi
    verdicts[$name]=$verdict
    summary+=$(printf '%5d s  %-7s  %s' $((SECONDS - start)) "$verdict" "$name")$'\n'
}
