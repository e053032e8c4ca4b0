package sender

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"net/http"
	"testing"
	"time"
)

// authority signs certificates. The clock of a bubble begins in 2000.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

var (
	longAgo = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)
	farOff  = time.Date(2120, 1, 1, 0, 0, 0, 0, time.UTC)
)

func newAuthority(t testing.TB) *authority {
	t.Helper()
	a := &authority{key: newKey(t), pool: x509.NewCertPool()}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IPAddresses: []net.IP{{127, 0, 0, 1}}, NotBefore: longAgo, NotAfter: farOff,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.cert = a.create(t, template, template, &a.key.PublicKey)
	a.pool.AddCert(a.cert)
	return a
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (a *authority) create(t testing.TB, template, parent *x509.Certificate, public *ecdsa.PublicKey) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, a.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// config is that of a server whose certificate is for 127.0.0.1 and names.
func (a *authority) config(t testing.TB, until time.Time, names ...string) *tls.Config {
	t.Helper()
	key := newKey(t)
	cert := a.create(t, &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: longAgo, NotAfter: until, DNSNames: names, IPAddresses: []net.IP{{127, 0, 0, 1}},
	}, a.cert, &key.PublicKey)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{cert.Raw}, PrivateKey: key}}}
}

// listen serves every connection at a loopback address with handle, and closes
// it then; with TLS unless config is nil. It returns host:port.
func listen(t testing.TB, at string, config *tls.Config, handle func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if config != nil {
		l = tls.NewListener(l, config)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				handle(conn)
			}()
		}
	}()
	return address
}

// answering reads requests from a connection and writes the text for each.
func answering(text string) func(net.Conn) {
	return func(conn net.Conn) {
		r := bufio.NewReader(conn)
		for {
			if takeRequest(r) != nil {
				return
			}
			if _, err := io.WriteString(conn, text); err != nil {
				return
			}
		}
	}
}

// flooding reads a request, writes head, and then text until nobody takes it;
// written, unless nil, hears how many bytes that were.
func flooding(head, text string, written chan<- int) func(net.Conn) {
	return func(conn net.Conn) {
		if takeRequest(bufio.NewReader(conn)) != nil {
			return
		}
		total, err := io.WriteString(conn, head)
		for err == nil {
			var n int
			n, err = io.WriteString(conn, text)
			total += n
		}
		if written != nil {
			written <- total
		}
	}
}

func takeRequest(r *bufio.Reader) error {
	req, err := http.ReadRequest(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, req.Body)
	return err
}

// patient has a time-out that no test comes near.
func patient(t testing.TB, c Config) *Sender {
	t.Helper()
	c.Timeout = time.Minute
	s := New(c)
	t.Cleanup(s.Close)
	return s
}

func hello(url string) Post {
	return Post{URL: url, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(`{"id":"evt_1"}`)}
}
