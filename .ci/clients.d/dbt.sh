#!/usr/bin/env bash
# What dbt does with the embedded engine: bash dbt.sh DBT FOLDER. ENGINE_HOST, ENGINE_PORT, ENGINE_PASSWORD and
# ANALYST_PASSWORD are set. FOLDER is a copy of the folder dbt. An analyst reads, and a model builds as the administrator.
set -uo pipefail
dbt=$1
cd "$2"
run() { "$dbt" --no-use-colors "$@" --profiles-dir . >log.txt 2>&1; }
yes() { if "$@"; then echo yes; else echo no; cat log.txt >&2; fi; }
has() { grep -q "$1" log.txt; }

run debug
echo "debug $(yes has 'All checks passed')"
run show --inline "SELECT count() AS n FROM {{ source('air', 'standard') }} WHERE parameter = 'pm25'" --output json
echo "show $(yes has '"n": 4')"
run run && echo "the analyst has built a model"
echo "refused $(yes has 'Not enough privileges: CREATE is not allowed for this user')"
run run --target admin
echo "built $(yes has 'PASS=1')"
