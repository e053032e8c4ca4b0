# shellcheck shell=bash
# The settings of a broker; .ci/kafka sources this.

# properties prints the settings of broker N of a quorum.
properties() {
	local n=$1 voters=$2 replicas protocol=PLAINTEXT
	replicas=$((brokers < 3 ? brokers : 3))
	secured && protocol=SASL_SSL
	cat <<-EOF
		process.roles=broker,controller
		node.id=$n
		controller.quorum.voters=$voters
		controller.listener.names=CONTROLLER
		listeners=$protocol://127.0.0.1:$(port "$n"),CONTROLLER://127.0.0.1:$(cat "$dir/$n/controller")
		advertised.listeners=$protocol://127.0.0.1:$(port "$n")
		inter.broker.listener.name=$protocol
		listener.security.protocol.map=$protocol:$protocol,CONTROLLER:PLAINTEXT
		log.dirs=$dir/$n/data
		auto.create.topics.enable=false
		num.partitions=1
		default.replication.factor=$replicas
		min.insync.replicas=$((replicas > 1 ? replicas - 1 : 1))
		offsets.topic.replication.factor=$replicas
		offsets.topic.num.partitions=1
		transaction.state.log.replication.factor=$replicas
		transaction.state.log.min.isr=1
		transaction.state.log.num.partitions=1
		share.coordinator.state.topic.replication.factor=$replicas
		share.coordinator.state.topic.min.isr=1
		share.coordinator.state.topic.num.partitions=1
		num.network.threads=2
		num.io.threads=2
		log.cleaner.dedupe.buffer.size=8388608
		# A killed broker can register again when its session has ended. A busy one must not miss that time.
		broker.heartbeat.interval.ms=250
		broker.session.timeout.ms=5000
		# Group members of tests join one at a time, and need not wait for others.
		group.initial.rebalance.delay.ms=0
	EOF
	if secured; then secure_properties "$n"; fi
	printf '%s\n' "${settings[@]}" # the last value of a setting counts
}
