#!/usr/bin/env bash
# The tests of .ci/systemd in the booted Debian: those of its first boot, or those of its second.
set -Eeuo pipefail
cd /root/vayu

fail() {
	echo "FAIL: $*" >&2
	systemctl status --no-pager --full 'vayu@*' >&2 || true
	exit 1
}
trap 'fail "line $LINENO: $BASH_COMMAND"' ERR
passed() { echo "ok: $* (after $SECONDS s)"; }
until_ok() { # until_ok COMMAND… for at most ten minutes, because other work can take the processors
	local limit=$((SECONDS + 600))
	until "$@" >/tmp/until.log 2>&1; do
		[ "$SECONDS" -lt "$limit" ] || fail "still not: $* (vayu@${at-}): $(cat /tmp/until.log)"
		sleep 0.2
	done
}
# block prints the indented block of a page that has a pattern.
block() { awk -v RS= -v pattern="$2" '/^    / && $0 ~ pattern' "$1" | sed 's/^    //' | grep . || fail "$1 has no block with $2"; }
# page runs a block of systemd.md. There is a binary already, and an editor that needs no terminal.
page() { block docs/operations/systemd.md "$1" | sed '/^make build$/d' >/tmp/block.sh; EDITOR=/opt/editor timeout 900 bash -euo pipefail /tmp/block.sh; }
eval "$(block docs/operations/README.md '# systemd, as root')"
export -f vayu
shown() { [ "$(systemctl show -P "$2" "vayu@$1")" = "$3" ]; } # INSTANCE PROPERTY VALUE
shows() { shown "$@" || fail "$2 of vayu@$1 is $(systemctl show -P "$2" "vayu@$1"), not $3"; }
code() { curl -s -m 5 -o /dev/null -w '%{http_code}' "$@" || true; }
aqi() { [ "$(code -H "Authorization: Bearer ${2:-$key}" "http://$address/v1/aqi?city=Delhi")" = "${1:-200}" ]; }
engine_answers() { [[ $(vayu probe --ready --internal) = *'"clickhouse":"ok"'* ]]; }
first_key() { journalctl -u "vayu@$1" -o cat | sed -n 's/.*\(sk_test_[A-Za-z0-9]*\).*/\1/p' | sed -n 1p; }
complaints() { journalctl -b -o cat _PID=1 -p warning -u 'vayu@*'; }
roles='ingest pipeline dispatch api' address=10.0.0.7:8080

first() {
	cat >/opt/editor <<-END
		#!/bin/sh
		sed -i -e 's|^VAYU_STATE=.*|VAYU_STATE=$STATE|; s|^VAYU_CLICKHOUSE=.*|VAYU_CLICKHOUSE=$CLICKHOUSE|; s|^VAYU_KAFKA=.*||' \\
			-e 's|^VAYU_ENCRYPTION_KEY=.*|VAYU_ENCRYPTION_KEY=$ENCRYPTION_KEY|; s|^VAYU_DRAIN_DELAY=.*|VAYU_DRAIN_DELAY=15s|' "\$@"
	END
	chmod 755 /opt/editor

	page vayu@ingest.vayu@pipeline
	for at in $roles; do until_ok vayu probe --ready; done
	key=$(first_key api)
	until_ok aqi
	for at in $roles; do
		shows "$at" ActiveState active
		shows "$at" MemoryMax 2147483648
		[[ $(metrics) = *vayu_* ]] || fail "vayu@$at has no metrics"
	done
	[ -z "$(complaints)" ] || fail "systemd complains: $(complaints)"
	passed "installation: four instances are ready, and /v1/aqi answers with the first key"

	at=api
	[[ $(vayu config) = *"history: 36h"* ]] || fail "the simulator has another history: $(vayu config)"
	[[ $(vayu config) = *"listen: $address # environment VAYU_LISTEN"* ]] || fail "vayu config does not show the address of api.env"
	old=$key
	key=$(vayu key create --mode test --quiet)
	until_ok aqi
	vayu key revoke "$(vayu key list | grep -F "${old:0:12}" | grep -o 'key_[0-9A-Za-z]*' | sed -n 1p)" >/dev/null
	until_ok aqi 401 "$old"
	echo "$key" >/root/key
	passed "keys: a new one, and the first revoked"

	systemd-analyze security --no-pager --threshold=15 vayu@api >/dev/null || fail "the exposure is more than 1.5"
	mkdir -p /run/systemd/system/vayu@sandbox.service.d
	printf '[Service]\nType=oneshot\nRestart=no\nExecStart=\nExecStart=sh /opt/sandbox.sh\n' >/run/systemd/system/vayu@sandbox.service.d/test.conf
	sandbox >/opt/sandbox.sh
	touch /etc/vayu/sandbox.env
	systemctl daemon-reload
	systemctl start vayu@sandbox || fail "the sandbox: $(journalctl -u vayu@sandbox -o cat)"
	passed "sandbox: $(journalctl -u vayu@sandbox -o cat | grep -c '^denied') accesses are denied"

	systemctl kill --signal=KILL vayu@api
	until_ok shown api NRestarts 1
	until_ok aqi
	passed "kill: vayu@api restarted"

	systemctl stop vayu@api &
	until_ok eval '[ "$(code "http://$address/readyz")" = 503 ]'
	until_ok aqi # requests fail from the end of drain-delay on
	wait
	shows api Result success
	shows api ExecMainStatus 0
	systemctl start vayu@api
	passed "stop: /readyz answers 503 while requests are served"

	process=$(systemctl show -P MainPID vayu@ingest)
	page 'for at in'
	[ ! -e "/proc/$process" ]
	for at in $roles; do [ "$(readlink "/proc/$(systemctl show -P MainPID "vayu@$at")/exe")" = /opt/vayu/vayu ] || fail "vayu@$at runs the old binary"; done
	until_ok aqi
	passed "upgrade: all instances run the new file"

	sed -i.good 's/^VAYU_LISTEN=.*/VAYU_LISTEN=nonsense/' /etc/vayu/dispatch.env
	systemctl restart vayu@dispatch || true
	until_ok systemctl is-failed vayu@dispatch
	[[ $(systemctl status --no-pager vayu@dispatch) = *'listen: "nonsense" is not host:port'*'status=78/CONFIG'* ]] ||
		fail "systemctl status does not show the invalid setting"
	mv /etc/vayu/dispatch.env.good /tmp/dispatch.env
	rm /etc/vayu/dispatch.env
	systemctl start vayu@dispatch 2>/dev/null && fail "vayu@dispatch starts without its variables"
	shows dispatch Result resources
	[[ $(journalctl -u vayu@dispatch -o cat) = *'Failed to load environment files'* ]] || fail "the journal does not show the missing file"
	install -m 600 /tmp/dispatch.env /etc/vayu/dispatch.env
	at=dispatch
	systemctl start vayu@dispatch
	until_ok vayu probe --ready
	passed "invalid settings: systemctl status shows them, and a correction starts at once"

	mkdir -p /run/systemd/system/vayu@api.service.d
	printf '[Service]\nAmbientCapabilities=CAP_NET_BIND_SERVICE\nCapabilityBoundingSet=CAP_NET_BIND_SERVICE\nPrivateUsers=no\nEnvironment=VAYU_LISTEN=10.0.0.7:80\n' \
		>/run/systemd/system/vayu@api.service.d/port.conf
	sed -i.good '/^VAYU_LISTEN=/d' /etc/vayu/api.env
	systemctl daemon-reload
	systemctl restart vayu@api
	address=10.0.0.7:80
	until_ok aqi
	mv /etc/vayu/api.env.good /etc/vayu/api.env # the drop-in ends with this boot
	passed "port 80"
}

# sandbox prints a script that passes if the unit denies every access but those to its own folders.
sandbox() {
	cat <<-'END'
		set -e
		denied() { if sh -c "$1" 2>/dev/null; then echo "not denied: $1"; exit 1; else echo "denied: $1"; fi; }
		touch "$VAYU_DATA/file" /tmp/file
		[ ! -e /tmp/block.sh ] # that of other processes
		denied 'touch /var/lib/vayu/api/file'
		denied 'touch /var/lib/vayu/file'
		denied 'touch /opt/vayu/file'
		denied 'touch /etc/file'
		denied 'touch /dev/shm/file'
		denied 'touch /sys/fs/cgroup/file'
		denied 'ls /root'
		denied 'ls /home'
		denied 'cat /etc/vayu/vayu.env'
		denied 'test -e /proc/1'
		denied 'test -e /dev/kmsg'
		denied 'echo x >/proc/sys/kernel/domainname'
		denied 'unshare --user true'
		denied 'chmod u+s "$VAYU_DATA/file"'
		denied 'setpriv --reuid=0 true'
	END
}

second() {
	key=$(cat /root/key)
	for at in $roles; do until_ok vayu probe --ready; done
	until_ok aqi
	[ -z "$(complaints)" ] || fail "systemd complains: $(complaints)"
	ends=$(journalctl -b -1 -o cat _PID=1 -u 'vayu@*')
	[[ $ends = *'Stopped vayu@api.service'* ]] || fail "the journal of the first boot does not show the stop of vayu@api"
	[[ $ends != *'timed out'* ]] || fail "a stop took longer than TimeoutStopSec"
	passed "second boot: four instances are ready with the same key"

	systemctl disable --now --quiet vayu@ingest vayu@pipeline vayu@dispatch vayu@api
	page vayu@all.service.d
	grep -q "^VAYU_ENCRYPTION_KEY=." /etc/vayu/vayu.env.~1~ || fail "the installation has lost the encryption key"
	at=all address=127.0.0.1:8080
	until_ok engine_answers
	key=$(first_key all)
	until_ok aqi
	[ -z "$(complaints)" ] || fail "systemd complains: $(complaints)"
	[[ $(systemctl show -P SystemCallFilter vayu@all) = *landlock_restrict_self* ]] || fail "the engine cannot use Landlock"
	systemctl kill --signal=KILL --kill-whom=main vayu@all
	until_ok shown all NRestarts 1
	until_ok engine_answers
	systemctl stop vayu@all
	shows all Result success
	systemctl start vayu@all
	until_ok engine_answers
	until_ok aqi
	passed "embedded engine: /v1/aqi answers, after a kill and a restart too"
}

"$1"
