# Starts PostgreSQL as the official image does, with its variables.
set -euo pipefail
if [ ! -s "$PGDATA/PG_VERSION" ]; then
	# shellcheck disable=SC2086 # several arguments
	initdb --username "$POSTGRES_USER" --pwfile <(printf '%s\n' "$POSTGRES_PASSWORD") ${POSTGRES_INITDB_ARGS:-} -D "$PGDATA"
	echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
	echo "CREATE DATABASE \"$POSTGRES_DB\"" | postgres --single -D "$PGDATA" postgres
fi
exec postgres -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories=/var/run/postgresql
