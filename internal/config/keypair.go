package config

import (
	"fmt"
	"os"
)

// KeyPair is the content of two PEM files: the chain of a certificate, and its private key.
type KeyPair struct{ Cert, Key []byte }

// ReadKeyPair reads the files of a certificate and its private key. It does not check their content.
func ReadKeyPair(cert, key string) (p KeyPair, err error) {
	if p.Cert, err = os.ReadFile(cert); err != nil {
		return p, fmt.Errorf("reading the certificate: %w", err)
	}
	if p.Key, err = os.ReadFile(key); err != nil {
		return p, fmt.Errorf("reading the certificate's key: %w", err)
	}
	return p, nil
}
