package devreceiver

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// pair returns the certificate of a new data directory, and the path of its file.
func pair(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	path, err := Certificate(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := tls.LoadX509KeyPair(path, path)
	if err != nil {
		t.Fatal(err)
	}
	return loaded, path
}

// The certificate is trusted for loopback names only. Its key cannot sign other certificates.
func TestCertificateIsConstrainedToLoopback(t *testing.T) {
	t.Parallel()
	own, _ := pair(t)
	roots := x509.NewCertPool()
	roots.AddCert(own.Leaf)
	foreign := &x509.Certificate{
		SerialNumber: own.Leaf.SerialNumber, NotBefore: own.Leaf.NotBefore, NotAfter: own.Leaf.NotAfter, DNSNames: []string{"localhost"},
	}
	signed, err := x509.CreateCertificate(nil, foreign, own.Leaf, own.Leaf.PublicKey, own.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	stolen, err := x509.ParseCertificate(signed)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		cert *x509.Certificate
		want bool
	}{
		{"localhost", own.Leaf, true},
		{"127.0.0.1", own.Leaf, true},
		{"::1", own.Leaf, true},
		{"example.com", own.Leaf, false},
		{"10.0.0.1", own.Leaf, false},
		{"localhost", stolen, false},
	} {
		t.Run(fmt.Sprintf("%s, its own: %v", c.name, c.cert == own.Leaf), func(t *testing.T) {
			_, err := c.cert.Verify(x509.VerifyOptions{DNSName: c.name, Roots: roots})
			if got := err == nil; got != c.want {
				t.Errorf("got %v (%v), want %v", got, err, c.want)
			}
		})
	}
	if left := time.Until(own.Leaf.NotAfter); left < 10*365*24*time.Hour {
		t.Errorf("it is valid for %s, want ten years at least", left)
	}
}

func TestOpenSSLAgrees(t *testing.T) {
	t.Parallel()
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	_, path := pair(t)
	for name, want := range map[string]bool{"localhost": true, "example.com": false} {
		out, err := exec.CommandContext(t.Context(), openssl, "verify", "-CAfile", path, "-purpose", "sslserver", "-verify_hostname", name, path).CombinedOutput()
		if got := err == nil; got != want {
			t.Errorf("%s: got %v, want %v\n%s", name, got, want, out)
		}
	}
}

func TestConcurrentCreationOfCertificate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	texts, errs := make([]string, 16), make([]error, 16)
	var all sync.WaitGroup
	for i := range texts {
		all.Go(func() {
			path, err := Certificate(dir)
			if err == nil {
				var text []byte
				text, err = os.ReadFile(path)
				texts[i] = string(text)
			}
			errs[i] = err
		})
	}
	all.Wait()
	for i, err := range errs {
		if err != nil {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if different := slices.Compact(slices.Sorted(slices.Values(texts))); len(different) != 1 {
		t.Errorf("got %d different certificates, want 1", len(different))
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 {
		t.Errorf("got the files %v, want one", files)
	}
	if info, err := files[0].Info(); err != nil || info.Mode() != 0o600 {
		t.Errorf("the file: %v %v", info, err)
	}
}

func TestDataDirectoryCannotBeMade(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Certificate(file); err == nil {
		t.Error("got no error, want that a file is not a directory")
	}
}

func TestDamagedCertificateIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, certificateFile)
	if err := os.WriteFile(path, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := New(Config{Data: dir, Answer: 200, Out: t.Output(), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Run(t.Context()); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want an error with the path %s", err, path)
	}
}
