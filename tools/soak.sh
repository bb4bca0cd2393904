#!/bin/sh
# Run the functional tests and those of the newest client again and again, side
# by side, so that each puts load on the other: what depends on luck fails.
#
# usage: tools/soak.sh ROUNDS
#
# Prints a line for each run, leaves its output in .soak, and fails if one did.
# One round takes some eight minutes on two processors.
set -eu

rounds=$1
mkdir -p .soak
rm -f .soak/failed

# rounds_of NAME ARGUMENTS...: run pytest with ARGUMENTS, ROUNDS times.
rounds_of() {
    name=$1
    shift
    round=0
    while [ "$round" -lt "$rounds" ]; do
        round=$((round + 1))
        log=.soak/$name-$round.log
        start=$(date +%s)
        .venv/nova-34/bin/python -m pytest -q "$@" >"$log" 2>&1 ||
            echo "$log" >>.soak/failed
        echo "$name $round: $(grep -aE ' (passed|failed|error)' "$log" |
            tail -n 1), load $(cut -d ' ' -f 1 /proc/loadavg)," \
            "$(($(date +%s) - start)) s"
    done
}

rounds_of functional -n 3 --dist worksteal tests/functional &
CLIENTS=.venv/clients-10 rounds_of clients -n 2 tests/clients
wait
if [ -e .soak/failed ]; then
    sort .soak/failed >&2
    exit 1
fi
