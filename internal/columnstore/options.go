package columnstore

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"

	"vayu/internal/config"
)

// options returns clickhouse-go's options for the DSN or the embedded engine. For the engine it creates db.endpoint.
func (db *DB) options() (*clickhouse.Options, error) {
	options := &clickhouse.Options{}
	if !db.Embedded() {
		var err error
		if options, err = serverOptions(db.cfg); err != nil {
			return nil, err
		}
	} else {
		db.endpoint = &endpoint{changed: make(chan struct{}), reason: errors.New("the engine has not been started")}
		options.Protocol = clickhouse.HTTP
		options.Addr = []string{"127.0.0.1:8123"} // replaced by dial
		options.Auth = clickhouse.Auth{Username: "default"}
		options.DialContext = db.endpoint.dial
		options.ReadTimeout = answerTimeout
		options.TransportFunc = func(rt *http.Transport) (http.RoundTripper, error) {
			rt.Proxy = nil
			return &transport{where: db.endpoint, next: rt}, nil
		}
	}
	withoutFinal(options)
	options.MaxOpenConns = db.cfg.Connections
	options.MaxIdleConns = db.cfg.Connections
	options.ClientInfo.Products = append(options.ClientInfo.Products, struct{ Name, Version string }{"vayu", "1"})
	return options, nil
}

// withoutFinal makes a connection read tables without FINAL, unless the DSN sets final. The embedded engine applies
// FINAL by default, and a server's profile may do so too. Queries of the service that need FINAL set it themselves.
// Its other queries select the latest version (argMax, LIMIT 1 BY) or count stored rows. FINAL would slow them down.
func withoutFinal(options *clickhouse.Options) {
	if options.Settings == nil {
		options.Settings = clickhouse.Settings{}
	}
	if _, set := options.Settings["final"]; !set {
		options.Settings["final"] = 0
	}
}

// Final returns a context whose queries read only the latest version of each key.
func Final(ctx context.Context) context.Context {
	return clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"final": 1}))
}

// clusterSettings apply to every statement on a cluster, unless the DSN sets them. A subquery sees the rows of all
// shards. All clients write to and read from a shard's first replica while it is available. So a query sees every row
// stored before the query, although replicas lag behind each other.
var clusterSettings = clickhouse.Settings{
	"distributed_product_mode": "global", "prefer_localhost_replica": 0, "load_balancing": "in_order",
}

// serverOptions returns clickhouse-go's options for the DSN. An error begins with the name of the wrong setting.
func serverOptions(cfg Config) (*clickhouse.Options, error) {
	options, err := clickhouse.ParseDSN(withSecure(cfg.DSN))
	if err != nil {
		return nil, fmt.Errorf("clickhouse: %w", err)
	}
	if cfg.CA != "" {
		if options.TLS == nil {
			return nil, errors.New("clickhouse-ca: the DSN has no TLS, and so no use for an authority: add ?secure=true")
		}
		if options.TLS.RootCAs, err = authorities(cfg.CA); err != nil {
			return nil, fmt.Errorf("clickhouse-ca: %w", err)
		}
	}
	if options.TLS != nil {
		options.TLS.MinVersion = tls.VersionTLS12
	}
	limitDial(options)
	if options.Settings == nil {
		options.Settings = clickhouse.Settings{}
	}
	if cfg.Cluster != "" {
		for name, value := range clusterSettings {
			if _, set := options.Settings[name]; !set {
				options.Settings[name] = value
			}
		}
	}
	return options, nil
}

// User returns the name of the service's user on a server: the user in the DSN, or ClickHouse's default user.
func (c Config) User() (string, error) {
	options, err := clickhouse.ParseDSN(withSecure(c.DSN))
	if err != nil {
		return "", fmt.Errorf("clickhouse: %w", err)
	}
	return cmp.Or(options.Auth.Username, "default"), nil
}

// UnencryptedHosts returns the remote hosts of the DSN to which passwords and rows travel unencrypted. The embedded
// engine has none.
func (c Config) UnencryptedHosts() []string {
	if c.DSN == "" {
		return nil
	}
	options, err := clickhouse.ParseDSN(withSecure(c.DSN))
	if err != nil || options.TLS != nil { // Open reports the error
		return nil
	}
	var hosts []string
	for _, address := range options.Addr {
		if host, _, err := net.SplitHostPort(address); err == nil {
			address = host
		}
		if !config.Local(address) {
			hosts = append(hosts, address)
		}
	}
	return hosts
}

// withSecure adds the parameter secure to a DSN with https, because clickhouse-go needs both. It edits the text,
// because net/url cannot parse several hosts with ports.
func withSecure(dsn config.DSN) string {
	text := string(dsn)
	switch {
	case !strings.HasPrefix(text, "https://") || strings.Contains(text, "secure="):
		return text
	case strings.Contains(text, "?"):
		return text + "&secure=true"
	}
	return text + "?secure=true"
}

// authorities returns the certificate authorities of the system and of a PEM file.
func authorities(file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%q holds no certificate in PEM form", file)
	}
	return pool, nil
}

// explainUntrusted adds the remedy to an error about a certificate, and returns other errors unchanged.
func explainUntrusted(err error) error {
	if _, unverified := errors.AsType[*tls.CertificateVerificationError](err); unverified {
		return fmt.Errorf("the certificate of ClickHouse is not trusted (set clickhouse-ca to a PEM file of its authority): %w", err)
	}
	return err
}
