package fixturetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority signs certificates of servers and clients of a test.
type Authority struct {
	Root tls.Certificate // its own, for 127.0.0.1

	tb testing.TB
}

// NewAuthority makes an authority that nobody believes yet. What it signs holds from 1990
// to 2120, because the clock of a synctest bubble begins in 2000.
func NewAuthority(tb testing.TB) *Authority {
	tb.Helper()
	a := &Authority{tb: tb}
	a.Root = a.Sign(&x509.Certificate{
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	})
	return a
}

// Sign makes a certificate of a template, and gives it the name, the number and the times
// that it lacks.
func (a *Authority) Sign(template *x509.Certificate) tls.Certificate {
	a.tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.tb.Fatal(err)
	}
	if template.SerialNumber == nil {
		if template.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62)); err != nil {
			a.tb.Fatal(err)
		}
	}
	if template.Subject.String() == "" {
		template.Subject = pkix.Name{CommonName: "test"}
	}
	if template.NotBefore.IsZero() {
		template.NotBefore = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	if template.NotAfter.IsZero() {
		template.NotAfter = time.Date(2120, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	parent, by := template, any(key)
	if a.Root.Leaf != nil {
		parent, by = a.Root.Leaf, a.Root.PrivateKey
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		a.tb.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(raw)
	if err != nil {
		a.tb.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key, Leaf: leaf}
}

// Server is a certificate for 127.0.0.1 and names.
func (a *Authority) Server(names ...string) tls.Certificate {
	a.tb.Helper()
	return a.Sign(&x509.Certificate{
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, DNSNames: names, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	})
}

// Client is a certificate with which a client says who it is.
func (a *Authority) Client() tls.Certificate {
	a.tb.Helper()
	return a.Sign(&x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
}

// Pool believes the authority.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.Root.Leaf)
	return pool
}

// CA is the PEM file of the authority's own certificate.
func (a *Authority) CA() string {
	a.tb.Helper()
	ca := filepath.Join(a.tb.TempDir(), "ca.pem")
	a.write(ca, "CERTIFICATE", a.Root.Leaf.Raw)
	return ca
}

// Files writes a certificate and its key as PEM files of a folder.
func (a *Authority) Files(c tls.Certificate, dir string) (cert, key string) {
	a.tb.Helper()
	raw, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		a.tb.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	a.write(cert, "CERTIFICATE", c.Leaf.Raw)
	a.write(key, "PRIVATE KEY", raw)
	return cert, key
}

func (a *Authority) write(path, kind string, raw []byte) {
	a.tb.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}), 0o600); err != nil {
		a.tb.Fatal(err)
	}
}
