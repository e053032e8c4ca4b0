# shellcheck shell=bash
# Certificates and logins of secured brokers; .ci/kafka sources this.

# make_certificates creates an authority and the certificates of brokers and clients in DIR/tls.
make_certificates() {
	"$scripts/need" openssl openssl
	mkdir -p "$dir/tls"
	(
		umask 077
		cd "$dir/tls"
		openssl rand -hex 16 >password
		openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj "/CN=vayu test authority" \
			-keyout ca.key -out ca.pem
		sign broker serverAuth,clientAuth "subjectAltName=IP:127.0.0.1,DNS:localhost"
		sign client clientAuth
		cat broker.key broker.pem >broker.both
	) >"$dir/tls.log" 2>&1 || { tail -n 20 "$dir/tls.log" >&2; fail "making certificates in $dir/tls failed"; }
}

# sign creates NAME.key and NAME.pem for a purpose, with an optional additional extension.
sign() {
	openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" -keyout "$1.key" -out "$1.csr"
	printf 'extendedKeyUsage=%s\n%s\n' "$2" "${3:-}" >"$1.ext"
	openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile "$1.ext" -out "$1.pem"
}

# users prints the arguments that add the users to the storage.
users() {
	local password
	secured || return 0
	password=$(cat "$dir/tls/password")
	echo "--add-scram SCRAM-SHA-512=[name=vayu,password=$password] --add-scram SCRAM-SHA-256=[name=vayu,password=$password]"
}

# secure_properties prints the settings of a secured broker. Brokers authenticate to each other
# as the same user with PLAIN, because SCRAM credentials are not available before the quorum is
# up.
secure_properties() {
	local password name
	password=$(cat "$dir/tls/password")
	name=listener.name.sasl_ssl
	cat <<-EOF
		ssl.keystore.type=PEM
		ssl.keystore.location=$dir/tls/broker.both
		ssl.truststore.type=PEM
		ssl.truststore.location=$dir/tls/ca.pem
		ssl.client.auth=requested
		sasl.enabled.mechanisms=SCRAM-SHA-512,SCRAM-SHA-256,PLAIN
		sasl.mechanism.inter.broker.protocol=PLAIN
		$name.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="vayu" password="$password" user_vayu="$password";
		$name.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
		$name.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
	EOF
}
