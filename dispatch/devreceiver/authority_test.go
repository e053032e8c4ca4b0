package devreceiver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// leafFor returns a certificate of the authority for a name that it must not certify.
// A thief of its key could issue one.
func leafFor(t *testing.T, dir, name string, now time.Time) *x509.Certificate {
	t.Helper()
	parent, err := authority(dir, now)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{NotBefore: now.Add(-skew), NotAfter: now.Add(leafLife), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	if ip := net.ParseIP(name); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{name}
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, parent.Leaf, key.Public(), parent.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, cert)
}

func parsed(t *testing.T, der []byte) *x509.Certificate {
	t.Helper()
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// leaves returns certificates by name, and whether the authority may certify the name.
func leaves(t *testing.T, dir string, now time.Time) map[string]*x509.Certificate {
	t.Helper()
	leaf, err := certificate(dir, now)
	if err != nil {
		t.Fatal(err)
	}
	own := parsed(t, leaf.Certificate[0])
	names := map[string]*x509.Certificate{"localhost": own, "127.0.0.1": own, "::1": own}
	for _, name := range []string{"example.com", "10.0.0.1", "2001:db8::1"} {
		names[name] = leafFor(t, dir, name, now)
	}
	return names
}

func local(name string) bool { return name == "localhost" || name == "127.0.0.1" || name == "::1" }

func TestAuthorityIsConstrainedToLoopback(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Now()
	path, err := Authority(dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	for name, cert := range leaves(t, dir, now) {
		_, err := cert.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, CurrentTime: now})
		if (err == nil) != local(name) {
			t.Errorf("%s: %v", name, err)
		}
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
	dir := t.TempDir()
	path, err := Authority(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, cert := range leaves(t, dir, time.Now()) {
		leaf := filepath.Join(t.TempDir(), "leaf.pem")
		if err := os.WriteFile(leaf, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}), 0o600); err != nil {
			t.Fatal(err)
		}
		check := "-verify_hostname"
		if net.ParseIP(name) != nil {
			check = "-verify_ip"
		}
		out, err := exec.CommandContext(t.Context(), openssl, "verify", "-CAfile", path, "-purpose", "sslserver", "-x509_strict", check, name, leaf).CombinedOutput()
		if (err == nil) != local(name) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

func TestConcurrentCreationOfAuthority(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pairs := make([]tls.Certificate, 16)
	errs := make([]error, len(pairs))
	var all sync.WaitGroup
	for i := range pairs {
		all.Go(func() { pairs[i], errs[i] = authority(dir, time.Now()) })
	}
	all.Wait()
	for i, pair := range pairs {
		if errs[i] != nil || !pair.Leaf.Equal(pairs[0].Leaf) {
			t.Errorf("number %d has another one: %v", i, errs[i])
		}
	}
	files, err := os.ReadDir(filepath.Join(dir, Folder))
	if err != nil || len(files) != 2 {
		t.Errorf("%v and these files are left: %v", err, files)
	}
	if info, err := os.Stat(filepath.Join(dir, Folder, keyName)); err != nil || info.Mode() != 0o600 {
		t.Errorf("the key: %v %v", info, err)
	}
	if life := pairs[0].Leaf.NotAfter.Sub(pairs[0].Leaf.NotBefore); life < 10*365*24*time.Hour {
		t.Errorf("it lives for %s", life)
	}
}

func TestBrokenAuthority(t *testing.T) {
	t.Parallel()
	made := func(t *testing.T) (dir, cert, key string) {
		t.Helper()
		dir = t.TempDir()
		cert, err := Authority(dir)
		if err != nil {
			t.Fatal(err)
		}
		return dir, cert, filepath.Join(dir, Folder, keyName)
	}
	refused := func(t *testing.T, err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "remove") {
			t.Errorf("got %v, want %q and what to do", err, want)
		}
	}
	t.Run("the key damaged", func(t *testing.T) {
		t.Parallel()
		dir, _, key := made(t)
		for _, text := range []string{"", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"} {
			if err := os.WriteFile(key, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Authority(dir)
			refused(t, err, "reading the authority")
		}
	})
	t.Run("the certificate lost", func(t *testing.T) {
		t.Parallel()
		dir, cert, _ := made(t)
		os.Remove(cert)
		_, err := Authority(dir)
		refused(t, err, "no such file")
	})
	t.Run("the key lost", func(t *testing.T) {
		t.Parallel()
		dir, _, key := made(t)
		os.Remove(key)
		_, err := Authority(dir)
		refused(t, err, "no such file")
	})
	t.Run("the key of another", func(t *testing.T) {
		t.Parallel()
		dir, _, key := made(t)
		_, _, others := made(t)
		if err := os.Rename(others, key); err != nil {
			t.Fatal(err)
		}
		_, err := Authority(dir)
		refused(t, err, "does not match")
	})
	t.Run("over", func(t *testing.T) {
		t.Parallel()
		dir, _, _ := made(t)
		_, err := certificate(dir, time.Now().AddDate(11, 0, 0))
		refused(t, err, "it ended on ")
	})
	t.Run("no folder can be made", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Authority(file); err == nil {
			t.Error("a file is taken for a directory")
		}
	})
}
