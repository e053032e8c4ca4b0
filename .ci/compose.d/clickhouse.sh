# Starts the embedded engine in place of ClickHouse's server. It listens on loopback, and socat makes it reachable.
set -euo pipefail
data=/var/lib/clickhouse
(umask 077 && printf '%s\n' "$CLICKHOUSE_PASSWORD" >"$data/engine.password")
socat TCP-LISTEN:8123,fork,reuseaddr TCP:127.0.0.1:18123 &
# The engine runs while its standard input is open, and prints its address.
exec /opt/vayu/vayu engine < <(echo '{"data":"'$data'","library":"/opt/vayu/libchdb.so","port":18123,"max_queries":64,"owner":"compose","parent":1}' && exec sleep infinity)
