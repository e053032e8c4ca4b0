#!/usr/bin/env bash
# The part of .ci/compose in its namespaces: starts the engine, makes the images, and runs the tests.
set -euo pipefail

fail() { echo "$0: $*" >&2; exit 1; }
work=$VAYU_TEST_WORK
ip link set lo up
dockerd --data-root "$work/data" --exec-root "$work/exec" --pidfile "$work/docker.pid" --host "$DOCKER_HOST" \
	--bridge none --default-address-pool base=10.84.0.0/16,size=24 >"$work/dockerd.log" 2>&1 &
engine=$! limit=$((SECONDS + 600))
until docker version >/dev/null 2>&1; do
	if ! kill -0 "$engine" 2>/dev/null || [ "$SECONDS" -ge "$limit" ]; then
		tail -n 20 "$work/dockerd.log" >&2
		fail "the Docker engine does not start"
	fi
	sleep 0.2
done
docker version --format 'engine: {{.Server.Version}}'
docker compose version

image() { # NAME TARGET: a stand-in
	echo "image: $1"
	docker build --quiet --network none --tag "$1" --target "$2" --file "$work/images/stand-ins.Dockerfile" "$work/images" >/dev/null
}
tar -C "$work/root" -c . | docker import - vayu-debian >/dev/null
rm -rf "$work/root"
named() { sed -n "s/^ *image: \($1:[^ ]*\)$/\1/p" docker-compose.yml | head -n 1; }
from() { # IMAGE: its name in the Dockerfile, with the versions
	sed -n "s/^FROM \($1:[^ ]*\) .*/\1/p" Dockerfile | head -n 1 |
		sed "s/\${NODE_VERSION}/$(version NODE)/; s/\${GO_VERSION}/$(version GO)/"
}
version() { sed -n "s/^ARG $1_VERSION=//p" Dockerfile; }
image "$(named haproxy)" haproxy
image "$(named postgres)" postgres
image "$(named apache.kafka)" kafka
image "$(named clickhouse.clickhouse-server)" clickhouse
image "$(named prom.prometheus)" prometheus
image "$(from node)" node
image "$(from golang)" golang
image vayu-compiled compiled
rm -rf "$work/images"

"$work/compose.test" -test.v -test.timeout 60m "${@/#-run/-test.run}"
