package devreceiver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"
)

const (
	// Folder is the subdirectory of the data directory that has the certificate authority.
	Folder = "listen"

	certificateName = "ca.pem"
	keyName         = "ca.key"

	// authorityYears is longer than a developer's machine is used.
	authorityYears = 10
	// leafLife is how long the certificate of a run is valid. It is longer than any run,
	// and below the 825 days from which on systems reject certificates.
	leafLife = 365 * 24 * time.Hour
	// skew is the clock skew tolerated for new certificates.
	skew = time.Hour
)

// Authority ensures that a data directory has the certificate authority of local
// receivers, and returns the path of its PEM certificate. The authority can sign for
// localhost and loopback addresses only, and its key stays in the directory. It is safe
// for concurrent use by several processes.
func Authority(dir string) (path string, err error) {
	path = filepath.Join(dir, Folder, certificateName)
	_, err = authority(dir, time.Now())
	return path, err
}

// authority loads the authority, and creates it if it is missing.
func authority(dir string, now time.Time) (tls.Certificate, error) {
	home := filepath.Join(dir, Folder)
	cert, key := filepath.Join(home, certificateName), filepath.Join(home, keyName)
	if _, err := os.Stat(cert); errors.Is(err, fs.ErrNotExist) {
		if err := makeAuthority(home, now); err != nil {
			return tls.Certificate{}, fmt.Errorf("making the authority of local receivers: %w", err)
		}
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err == nil && now.After(pair.Leaf.NotAfter) {
		err = fmt.Errorf("it ended on %s", pair.Leaf.NotAfter.Format(time.DateOnly))
	}
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("reading the authority in %s: %w; remove that folder, and start again what uses it", home, err)
	}
	return pair, nil
}

// makeAuthority creates the key and then a certificate of the stored key. If several
// processes run it, the first one wins each file; the others use it.
func makeAuthority(home string, now time.Time) error {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	text, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := place(home, keyName, "PRIVATE KEY", text); err != nil {
		return err
	}
	if key, err = readKey(filepath.Join(home, keyName)); err != nil {
		return err
	}
	loopback := []*net.IPNet{
		{IP: net.IPv4(127, 0, 0, 0).To4(), Mask: net.CIDRMask(8, 32)},
		{IP: net.IPv6loopback, Mask: net.CIDRMask(128, 128)},
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "Vayu, webhooks to this machine", Organization: []string{"Vayu"}},
		NotBefore:             now.Add(-skew),
		NotAfter:              now.AddDate(authorityYears, 0, 0),
		BasicConstraintsValid: true, IsCA: true, MaxPathLenZero: true,
		KeyUsage:                    x509.KeyUsageCertSign,
		ExtKeyUsage:                 []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		PermittedDNSDomainsCritical: true,
		PermittedDNSDomains:         []string{"localhost"},
		PermittedIPRanges:           loopback,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	return place(home, certificateName, "CERTIFICATE", cert)
}

func readKey(path string) (*ecdsa.PrivateKey, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s has no key; remove the file", path)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s has no key; remove the file: %w", path, err)
	}
	known, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s has a key of another type; remove the file", path)
	}
	return known, nil
}

// place writes a file atomically, readable by its owner only. It keeps an existing file.
func place(home, name, kind string, content []byte) error {
	draft, err := os.CreateTemp(home, name+".*") // 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(draft.Name()) }()
	err = pem.Encode(draft, &pem.Block{Type: kind, Bytes: content})
	if err := errors.Join(err, draft.Sync(), draft.Close()); err != nil {
		return err
	}
	if err := os.Link(draft.Name(), filepath.Join(home, name)); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// certificate creates the certificate with which one run serves HTTPS.
func certificate(dir string, now time.Time) (tls.Certificate, error) {
	parent, err := authority(dir, now)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("making the key of the receiver: %w", err)
	}
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "localhost"},
		NotBefore:   now.Add(-skew),
		NotAfter:    now.Add(leafLife),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, parent.Leaf, key.Public(), parent.PrivateKey)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("making the certificate of the receiver: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{cert}, PrivateKey: key}, nil
}
