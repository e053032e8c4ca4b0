package sender

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"vayu/dispatch/ssrf"
	"vayu/internal/testing/fixture"
	"vayu/schema"
)

const fine = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

func TestCertificatesMustBeValid(t *testing.T) {
	t.Parallel()
	ca, other := fixture.NewAuthority(t), fixture.NewAuthority(t)
	shaking := []schema.Stage{schema.StageTLS}
	expired := ca.Sign(&x509.Certificate{NotAfter: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}})
	old := tlsConfig(ca.Server())
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	two := tlsConfig(ca.Server())
	two.MinVersion, two.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	asking := tlsConfig(ca.Server())
	asking.ClientAuth = tls.RequireAnyClientCert
	for name, c := range map[string]struct {
		config *tls.Config
		host   string
		want   want
	}{
		"valid":                {tlsConfig(ca.Server()), "127.0.0.1", want{status: 200, body: "ok"}},
		"valid, TLS 1.2":       {two, "127.0.0.1", want{status: 200, body: "ok"}},
		"expired":              {tlsConfig(expired), "127.0.0.1", want{text: textExpired, stages: shaking}},
		"for another host":     {tlsConfig(ca.Server("hooks.example.com")), "localhost", want{text: textHost, stages: shaking}},
		"of unknown authority": {tlsConfig(other.Server()), "127.0.0.1", want{text: textAuthority, stages: shaking}},
		"self-signed":          {tlsConfig(other.Root), "127.0.0.1", want{text: textAuthority, stages: shaking}},
		"TLS 1.1":              {old, "127.0.0.1", want{text: textAlert, stages: shaking}},
		"no TLS":               {nil, "127.0.0.1", want{text: textNoTLS, stages: shaking}},
		"asks for ours":        {asking, "127.0.0.1", want{text: textAlert, stages: sending}},
		"a certificate of CA":  {&tls.Config{}, "127.0.0.1", want{text: textAlert, stages: shaking}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			handle := answering(fine)
			if c.config == nil {
				handle = func(conn net.Conn) { _, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) }
			}
			_, port, err := net.SplitHostPort(listen(t, "127.0.0.1:0", c.config, handle))
			if err != nil {
				t.Fatal(err)
			}
			got := newSender(t, Config{Roots: ca.Pool()}).Send(t.Context(), testPost("https://"+c.host+":"+port+"/in"))
			c.want.check(t, got)
		})
	}
}

func TestControlDeniesConnections(t *testing.T) {
	t.Parallel()
	url := "http://" + listen(t, "127.0.0.1:0", nil, func(net.Conn) { t.Error("the receiver was connected to") })
	s := newSender(t, Config{Control: ssrf.New(nil, nil).Control})
	want{text: textAddress, stages: []schema.Stage{schema.StageDNS}}.check(t, s.Send(t.Context(), testPost(url)))
}

func TestRefusedConnection(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	want{text: textNoListen, stages: []schema.Stage{schema.StageConnect}}.
		check(t, newSender(t, Config{}).Send(t.Context(), testPost("http://"+address)))
}

func TestInvalidURLs(t *testing.T) {
	t.Parallel()
	s := newSender(t, Config{Control: func(string, string, syscall.RawConn) error { return errors.New("it is connected to something") }})
	for url, text := range map[string]string{
		"":                      textRequest,
		"https://":              textRequest,
		"ftp://example.com/":    textRequest,
		"https://exam ple.com/": textURL,
		"https://[::1":          textURL,
		"%":                     textURL,
	} {
		want{text: text, stages: []schema.Stage{schema.StageDNS}}.check(t, s.Send(t.Context(), testPost(url)))
	}
}
