# The parts of a run: each has a name, a time limit, and perhaps parts that it needs. Parts that wait
# for no other one run beside each other. `.ci/run` reads this file; so do the tests.

declare -A numbers=() # of parts, by name; all else goes by their number
names=() commands=() limits=() needs=() after=() begun=() verdicts=() lines=() processes=()
failed=0
summary=""
LIMIT_MINUTES=90 # only what hangs takes as long; more than pytest gives a test
said="" # the folder of what each part prints

# part NAME [--needs PART]... [--after PART]... COMMAND...: what `run_parts` is to run. A failure is
# remembered, and other parts still run, so that one run shows all that is wrong. A part that needs
# one that did not succeed is skipped; one that only runs after it is not.
part() {
    local name=$1 number=${#names[@]}
    shift
    while [[ $1 == --needs || $1 == --after ]]; do
        [[ -v "numbers[$2]" ]] || { printf '%s needs %s, which is no part\n' "$name" "$2" >&2; exit 2; }
        after[number]+=" ${numbers[$2]}"
        [[ $1 == --after ]] || needs[number]+=" ${numbers[$2]}"
        shift 2
    done
    names+=("$name") numbers[$name]=$number
    limits+=("$LIMIT_MINUTES")
    # without `env`, Ctrl-C would be ignored in what runs beside the shell, and in tests of it
    commands+=("env --default-signal=INT,QUIT timeout --kill-after=10 ${LIMIT_MINUTES}m$(
        printf ' %q' "$@"
    )")
}

# Run every part, and print what each one said, as a whole and in order.
run_parts() {
    local number code shown=0
    said=$(mktemp -d)
    mkfifo "$said/ends"
    exec {ends}<>"$said/ends" # a line for each part that has ended: its number and its exit code
    while :; do
        for number in "${!names[@]}"; do
            [[ -v begun[number] ]] || begin_part "$number"
        done
        while [[ -v verdicts[shown] ]]; do
            printf '\n=== %s\n' "${names[shown]}"
            cat "$said/$shown"
            summary+=${lines[shown]}$'\n'
            ((++shown))
        done
        ((shown < ${#names[@]})) || break
        read -ru "$ends" number code
        [[ $code != 124 && $code != 137 ]] ||
            printf 'ended after %s minutes\n' "${limits[number]}" >>"$said/$number"
        if [[ $code == 0 ]]; then end_part "$number" ok; else end_part "$number" FAILED; fi
    done
}

begin_part() {
    local each missing=""
    for each in ${after[$1]-}; do
        [[ -v verdicts[each] ]] || return 0
    done
    begun[$1]=$SECONDS
    for each in ${needs[$1]-}; do
        [[ ${verdicts[each]} == ok ]] || missing+="${missing:+, }${names[each]}"
    done
    if [[ -n $missing ]]; then
        printf 'skipped: needs %s\n' "$missing" >"$said/$1"
        end_part "$1" skipped
    else
        {
            trap 'kill $!' TERM
            eval "exec ${commands[$1]}" &
            wait $!
            echo "$1 $?" >&"$ends"
        } </dev/null >"$said/$1" 2>&1 &
        processes+=($!)
    fi
}

end_part() {
    verdicts[$1]=$2
    [[ $2 != FAILED ]] || failed=1
    lines[$1]=$(printf '%5d s  %-7s  %s' $((SECONDS - begun[$1])) "$2" "${names[$1]}")
}

# Let nothing go on that was begun.
drop_parts() {
    ((!${#processes[@]})) || kill "${processes[@]}" 2>/dev/null
    [[ -z $said ]] || rm -rf "$said"
}
