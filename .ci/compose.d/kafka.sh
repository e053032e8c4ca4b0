#!/usr/bin/env bash
# Starts Kafka as the official image does: KAFKA_A_B is the property a.b.
set -euo pipefail
settings=/opt/kafka/config/server.properties
env | sed -n 's/^KAFKA_\([A-Z_]*\)=/\1=/p' | grep -v '^HEAP_OPTS=' | while IFS== read -r name value; do
	name=${name,,}
	echo "${name//_/.}=$value"
done >"$settings"
run() { java ${KAFKA_HEAP_OPTS:-} -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp '/opt/kafka/libs/*' "$@"; }
run kafka.tools.StorageTool format --ignore-formatted -t "$CLUSTER_ID" -c "$settings"
exec java ${KAFKA_HEAP_OPTS:-} -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp '/opt/kafka/libs/*' kafka.Kafka "$settings"
