package devreceiver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// certificateFile is the name of the file in the data directory that has the certificate of local receivers and its
// key.
const certificateFile = "localhost.pem"

// validYears is how many years the certificate is valid. No developer's machine lasts that long, so the certificate
// is never renewed.
const validYears = 50

// Certificate ensures that a data directory has the certificate of local receivers, and returns the path of its PEM
// file. The certificate is self-signed, and valid only for localhost and its loopback addresses. Several processes can
// call Certificate at the same time.
func Certificate(dir string) (path string, err error) {
	path = filepath.Join(dir, certificateFile)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	text, err := newCertificate(time.Now())
	if err == nil {
		err = createFile(path, text)
	}
	if err != nil {
		return "", fmt.Errorf("making the certificate of local receivers: %w", err)
	}
	return path, nil
}

func newCertificate(now time.Time) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: "localhost", Organization: []string{"Vayu, webhooks to this machine"}},
		NotBefore:    now.Add(-time.Hour), // tolerates clock skew
		NotAfter:     now.AddDate(validYears, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:     []string{"localhost"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})
	return append(text, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...), nil
}

// createFile creates a file that only its owner can read. If another process has created the file before, createFile
// does nothing. A reader sees the whole file or none.
func createFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	draft, err := os.CreateTemp(filepath.Dir(path), certificateFile+".*") // with mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(draft.Name()) }()
	_, err = draft.Write(content)
	if err := errors.Join(err, draft.Close()); err != nil {
		return err
	}
	if err := os.Link(draft.Name(), path); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
