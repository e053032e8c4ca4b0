package columnstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
)

// HTTP returns a client of ClickHouse's HTTP interface, which writes results in every format of ClickHouse. It also
// returns the URL of queries, with the settings of the DSN. The client adds user and password. For a DSN of the native
// protocol, it uses the same hosts at the standard ports, 8123 or 8443. If `analyst` is true, the client is for the
// user "analyst" of an embedded engine, or the user of [Config.AnalystDSN] if that is set.
func (db *DB) HTTP(analyst bool) (*http.Client, *url.URL, error) {
	if db.Embedded() {
		dial := func(ctx context.Context, _, address string) (net.Conn, error) { return db.endpoint.dial(ctx, address) }
		t := &transport{where: db.endpoint, next: &http.Transport{DialContext: dial, DisableCompression: true}}
		if analyst {
			t.analyst = db.cfg.Data
		}
		return &http.Client{Transport: t}, &url.URL{Scheme: "http", Host: "127.0.0.1", Path: "/"}, nil
	}
	cfg := db.cfg
	if analyst {
		cfg.DSN = cmp.Or(cfg.AnalystDSN, cfg.DSN)
	}
	options, err := serverOptions(cfg)
	if err != nil && cfg.DSN != db.cfg.DSN {
		err = fmt.Errorf("clickhouse-analyst: %w", err)
	}
	if err != nil {
		return nil, nil, err
	}
	port, scheme := "8123", "http"
	if options.TLS != nil {
		port, scheme = "8443", "https"
	}
	servers := servers{options: options, next: &http.Transport{TLSClientConfig: options.TLS, Proxy: http.ProxyURL(options.HTTPProxyURL), DisableCompression: true}}
	for _, address := range options.Addr {
		if host, _, err := net.SplitHostPort(address); err == nil && options.Protocol == clickhouse.Native {
			address = net.JoinHostPort(host, port)
		}
		servers.addresses = append(servers.addresses, address)
	}
	settings := url.Values{}
	for name, value := range options.Settings {
		settings.Set(name, fmt.Sprint(value))
	}
	return &http.Client{Transport: servers}, &url.URL{Scheme: scheme, Host: servers.addresses[0], Path: "/" + options.HttpUrlPath, RawQuery: settings.Encode()}, nil
}

// servers sends a request to the first server of the DSN that accepts a connection.
type servers struct {
	options   *clickhouse.Options
	addresses []string
	next      *http.Transport
}

// RoundTrip sends a request, with the user and password of the DSN, to the first server that accepts a connection.
func (s servers) RoundTrip(r *http.Request) (*http.Response, error) {
	for i, address := range s.addresses {
		try := r.Clone(r.Context())
		try.URL.Host, try.Host = address, address
		maps.Copy(try.Header, header(s.options))
		if i > 0 && r.GetBody != nil {
			try.Body, _ = r.GetBody() // the body is a text, which can be read again
		}
		reply, err := s.next.RoundTrip(try)
		refused, dial := errors.AsType[*net.OpError](err)
		if err == nil || i == len(s.addresses)-1 || !dial || refused.Op != "dial" || r.GetBody == nil {
			return reply, explainUntrusted(err)
		}
	}
	return nil, errors.New("the DSN names no server")
}

func header(options *clickhouse.Options) http.Header {
	h := http.Header{}
	for name, value := range options.HttpHeaders {
		h.Set(name, value)
	}
	h.Set("X-ClickHouse-User", cmp.Or(options.Auth.Username, "default"))
	h.Set("X-ClickHouse-Key", options.Auth.Password)
	return h
}
