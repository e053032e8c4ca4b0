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

	// authorityYears is the validity of the authority, longer than a developer uses a machine.
	authorityYears = 10
	// leafLife is how long the certificate of a run is valid. It is longer than any run, and
	// below 825 days: some systems reject certificates that are valid for longer.
	leafLife = 365 * 24 * time.Hour
	// skew is the clock skew tolerated for new certificates.
	skew = time.Hour
)

// Authority ensures that a data directory has the certificate authority of local receivers, and
// returns the path of the authority's PEM certificate. The authority can sign for localhost and
// loopback addresses only, and its key stays in the directory. Several processes can call
// Authority at the same time.
func Authority(dir string) (path string, err error) {
	path = filepath.Join(dir, Folder, certificateName)
	_, err = authority(dir, time.Now())
	return path, err
}

// authority loads the certificate authority, and creates one if the directory has none.
func authority(dir string, now time.Time) (tls.Certificate, error) {
	home := filepath.Join(dir, Folder)
	if _, err := os.Stat(filepath.Join(home, certificateName)); errors.Is(err, fs.ErrNotExist) {
		if err := makeAuthority(dir, now); err != nil {
			return tls.Certificate{}, fmt.Errorf("making the authority of local receivers: %w", err)
		}
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(home, certificateName), filepath.Join(home, keyName))
	if err == nil && now.After(pair.Leaf.NotAfter) {
		err = fmt.Errorf("it ended on %s", pair.Leaf.NotAfter.Format(time.DateOnly))
	}
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("reading the authority in %s: %w; remove that folder, and start again what uses it", home, err)
	}
	return pair, nil
}

// makeAuthority creates a key and a certificate in a temporary folder, and then renames the folder
// to Folder. Therefore Folder never has only one of the two files. Of several processes, the first
// wins, because a rename replaces only an empty folder.
func makeAuthority(dir string, now time.Time) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	draft, err := os.MkdirTemp(dir, Folder+".*") // 0700
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(draft) }()
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "Vayu, webhooks to this machine", Organization: []string{"Vayu"}},
		NotBefore:             now.Add(-skew),
		NotAfter:              now.AddDate(authorityYears, 0, 0),
		BasicConstraintsValid: true, IsCA: true, MaxPathLenZero: true,
		KeyUsage:                    x509.KeyUsageCertSign,
		ExtKeyUsage:                 []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		PermittedDNSDomainsCritical: true,
		PermittedDNSDomains:         []string{"localhost"},
		PermittedIPRanges: []*net.IPNet{
			{IP: net.IPv4(127, 0, 0, 0).To4(), Mask: net.CIDRMask(8, 32)},
			{IP: net.IPv6loopback, Mask: net.CIDRMask(128, 128)},
		},
	}
	cert, key, err := issue(template, tls.Certificate{})
	if err != nil {
		return err
	}
	text, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	err = errors.Join(writePEM(filepath.Join(draft, keyName), "PRIVATE KEY", text), writePEM(filepath.Join(draft, certificateName), "CERTIFICATE", cert))
	if err != nil {
		return err
	}
	if err := os.Rename(draft, filepath.Join(dir, Folder)); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// issue makes a key and a certificate for the key, signed by parent. If parent is empty,
// the certificate is self-signed.
func issue(template *x509.Certificate, parent tls.Certificate) (cert []byte, key *ecdsa.PrivateKey, err error) {
	if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, nil, err
	}
	if parent.Leaf == nil {
		parent = tls.Certificate{Leaf: template, PrivateKey: key}
	}
	cert, err = x509.CreateCertificate(rand.Reader, template, parent.Leaf, key.Public(), parent.PrivateKey)
	return cert, key, err
}

// writePEM writes a file that only its owner can read.
func writePEM(path, kind string, content []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600)
}

// certificate creates the certificate with which one run serves HTTPS.
func certificate(dir string, now time.Time) (tls.Certificate, error) {
	parent, err := authority(dir, now)
	if err != nil {
		return tls.Certificate{}, err
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
	cert, key, err := issue(template, parent)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("making the certificate of the receiver: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{cert}, PrivateKey: key}, nil
}
