//go:build integration

package state_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"vayu/internal/config"
	"vayu/internal/state"
	"vayu/internal/state/statetest"
)

// writePEM writes a file that belongs to whoever runs PostgreSQL, which insists on that.
func writePEM(t *testing.T, path, kind string, raw []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	folder, err := os.Stat(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if owner, ok := folder.Sys().(*syscall.Stat_t); ok {
		if err := os.Chown(path, int(owner.Uid), int(owner.Gid)); err != nil {
			t.Fatal(err)
		}
	}
}

// encrypted is a PostgreSQL of the test alone that takes encrypted connections only, and the PEM file of its certificate,
// which is its own authority.
func encrypted(t *testing.T) (dsn, ca string) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "vayu-pg-") // the user postgres must reach it
	if err != nil {
		t.Fatal(err)
	}
	postgres := func(action string) string {
		t.Helper()
		out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "../../.ci/postgres", action, dir).Output()
		if err != nil {
			t.Fatalf(".ci/postgres %s: %v", action, err)
		}
		return strings.TrimSpace(string(out))
	}
	dsn = postgres("start")
	t.Cleanup(func() { postgres("stop") })
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "PostgreSQL of a test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cluster := filepath.Join(dir, "cluster")
	writePEM(t, filepath.Join(cluster, "server.crt"), "CERTIFICATE", raw)
	writePEM(t, filepath.Join(cluster, "server.key"), "PRIVATE KEY", private)
	ca = filepath.Join(t.TempDir(), "ca.pem")
	writePEM(t, ca, "CERTIFICATE", raw)
	statetest.Administer(t, dsn, "ALTER SYSTEM SET ssl = on")
	statetest.Administer(t, dsn, "SELECT pg_reload_conf()") // told; heard a moment later
	for deadline := time.Now().Add(time.Minute); ; {
		conn, err := pgconn.Connect(t.Context(), strings.Replace(dsn, "disable", "require", 1))
		if err == nil {
			_ = conn.Close(t.Context())
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	return strings.TrimSuffix(dsn, "?sslmode=disable"), ca
}

// TestIntegrationPostgresOverTLS: a DSN with its own authority is enough, and a server that is not believed is not used.
func TestIntegrationPostgresOverTLS(t *testing.T) {
	t.Parallel()
	dsn, ca := encrypted(t)
	db := statetest.Open(t, state.Config{DSN: config.DSN(dsn + "?sslmode=verify-full&sslrootcert=" + ca)})
	update(t, db, func(tx *state.Tx) error { return set(tx, "a", "1") })
	var used bool
	if err := db.View(t.Context()).QueryRow("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").Scan(&used); err != nil || !used {
		t.Errorf("the connection is encrypted: %t, %v", used, err)
	}
	db, err := state.Open(state.Config{DSN: config.DSN(dsn + "?sslmode=verify-full"), Share: true}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "x509") {
		t.Errorf("without its authority the server gave %v, want that its certificate is not believed", err)
	}
}
