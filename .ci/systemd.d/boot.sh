#!/usr/bin/env bash
# The part of .ci/systemd in its namespaces: starts the stores, boots the Debian twice, and runs the tests in it.
set -euo pipefail

work=$VAYU_TEST_WORK
ip link set lo up
ip address add 10.0.0.7/28 dev lo # the address in api.env
# Neither nspawn nor PostgreSQL leaves files on the machine.
mount -t tmpfs -o mode=755 run /run
mkdir /run/systemd
mount -t tmpfs shm /dev/shm

state=$(.ci/postgres start "$work/postgres" fsync=off)
trap '.ci/postgres stop "$work/postgres"' EXIT
mkdir "$work/engine"
(umask 077 && echo secret >"$work/engine/engine.password")
library=$(readlink -f node_modules/@chdb/lib-linux-*-gnu/libchdb.so)
bin/vayu engine >"$work/engine.log" 2>&1 < <(echo '{"data":"'"$work/engine"'","library":"'"$library"'","port":18123,"max_queries":64,"owner":"systemd","parent":1}' && exec sleep infinity) &

# Settings of all services of both boots. The journal of the first boot outlives it.
mkdir -p "$work/root/etc/systemd/system.conf.d" "$work/root/var/log/journal"
printf '[Manager]\nDefaultEnvironment=VAYU_SOURCE_SIMULATOR_HISTORY=36h\n' >"$work/root/etc/systemd/system.conf.d/test.conf"

boot() {
	systemd-nspawn --quiet --register=no --keep-unit --machine=vayu --directory="$work/root" --bind-ro="$PWD:/root/vayu" --boot \
		>"$work/boot.log" 2>&1 </dev/null &
	machine=$!
	local limit=$((SECONDS + 600))
	while [ "$SECONDS" -lt "$limit" ]; do
		kill -0 "$machine" 2>/dev/null || break
		leader=$(cut -d ' ' -f 1 "/proc/$machine/task/$machine/children")
		if [ -n "$leader" ] && [ -S "/proc/$leader/root/run/dbus/system_bus_socket" ] && inside systemctl is-active --quiet multi-user.target; then return; fi
		sleep 0.1
	done
	tail -n 40 "$work/boot.log" >&2
	echo "systemd does not boot" >&2
	exit 1
}
inside() {
	(cd / && nsenter --target "$leader" --all --root --wd env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb \
		STATE="$state" CLICKHOUSE=http://default:secret@127.0.0.1:18123/ ENCRYPTION_KEY="$key" "$@" </dev/null)
}
key=$(openssl rand -base64 32)

boot
inside bash /root/vayu/.ci/systemd.d/tests.sh first
inside systemctl poweroff
timeout 600 tail --pid="$machine" -f /dev/null || { echo "the machine does not stop" >&2; exit 1; }
wait "$machine"
boot
inside bash /root/vayu/.ci/systemd.d/tests.sh second
