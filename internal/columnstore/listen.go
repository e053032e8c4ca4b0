package columnstore

import (
	"net"

	"vayu/internal/columnstore/embedded"
	"vayu/internal/config"
)

// Listen is a further address of the embedded engine, for analysts on other machines. Only the user analyst can connect
// to this address. Administrators and the service use another address, which stays loopback.
type Listen struct {
	// Address is host:port. If it is empty, there is no further address.
	Address string `yaml:"address" help:"further address of the embedded engine for the user analyst, host:port; needs TLS unless it is loopback"`
	// Cert and Key are PEM files. The engine reads them at its start.
	Cert string `yaml:"tls-cert" help:"file of the certificate chain of that address, PEM"`
	Key  string `yaml:"tls-key" help:"file of the certificate's private key, PEM"`
	// Password is the password of the user analyst. If it is empty, the generated one in DATA/analyst.password applies.
	Password config.Secret `yaml:"password" help:"password of the user analyst, at least 15 characters; the generated one when empty"`
}

// minPassword is the length of the shortest password that an operator may choose. NIST SP 800-63B asks for 8 characters
// at least, and for 15 if the password is the only factor.
const minPassword = 15

// Validate returns an error for each wrong setting. It implements config.Validator.
func (l Listen) Validate() []error {
	var f config.Faults
	host, _, err := net.SplitHostPort(l.Address)
	f.Check(l.Address == "" || err == nil, "address", "%q is not host:port", l.Address)
	remote := l.Address != "" && err == nil && (host == "" || !config.Local(host))
	f.Check((l.Cert == "") == (l.Key == ""), "tls-key", "a certificate needs its key, and a key its certificate")
	f.Check(!remote || l.Cert != "", "tls-cert", "%s is not loopback, so it needs TLS: set tls-cert and tls-key", l.Address)
	f.Check(!remote || l.Password.IsSet(), "password", "%s is not loopback, so analysts need a password that you have chosen", l.Address)
	f.Check(!l.Password.IsSet() || len(l.Password.Reveal()) >= minPassword, "password", "must have at least %d characters", minPassword)
	return f
}

// child converts l for the engine's process. An engine that a command runs for itself gets no further address.
func (l Listen) child(command bool) embedded.Listen {
	if command {
		l.Address = ""
	}
	return embedded.Listen{Address: l.Address, Cert: l.Cert, Key: l.Key, Password: l.Password.Reveal()}
}
