//go:build integration

package sqlstore_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"vayu/internal/config"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
)

// chownToPostgres gives files to the user that runs PostgreSQL, because the server must own its key.
func chownToPostgres(t *testing.T, folder string, files ...string) {
	t.Helper()
	is, err := os.Stat(folder)
	if err != nil {
		t.Fatal(err)
	}
	owner, ok := is.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	for _, f := range files {
		if err := os.Chown(f, int(owner.Uid), int(owner.Gid)); err != nil {
			t.Fatal(err)
		}
	}
}

// ownServer starts a PostgreSQL for one test, and returns its folder.
func ownServer(t *testing.T, settings ...string) (dsn, dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "vayu-pg-") // the user postgres must reach it
	if err != nil {
		t.Fatal(err)
	}
	postgres := func(action string, settings ...string) string {
		t.Helper()
		out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "../../.ci/postgres", append([]string{action, dir}, settings...)...).Output()
		if err != nil {
			t.Fatalf(".ci/postgres %s: %v", action, err)
		}
		return strings.TrimSpace(string(out))
	}
	dsn = postgres("start", settings...)
	t.Cleanup(func() { postgres("stop") })
	return dsn, dir
}

// encrypted starts a PostgreSQL for one test that also accepts TLS. It returns the PEM file of the authority
// of its certificate.
func encrypted(t *testing.T) (dsn, ca string) {
	t.Helper()
	dsn, dir := ownServer(t)
	authority, cluster := fixture.NewAuthority(t), filepath.Join(dir, "cluster")
	cert, key := authority.Files(authority.Server(), cluster)
	chownToPostgres(t, cluster, cert, key)
	sqlstoretest.ExecOnServer(t, dsn, "ALTER SYSTEM SET ssl_cert_file = '"+cert+"'")
	sqlstoretest.ExecOnServer(t, dsn, "ALTER SYSTEM SET ssl_key_file = '"+key+"'")
	sqlstoretest.ExecOnServer(t, dsn, "ALTER SYSTEM SET ssl = on")
	sqlstoretest.ExecOnServer(t, dsn, "SELECT pg_reload_conf()") // takes effect a moment later
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
	return strings.TrimSuffix(dsn, "?sslmode=disable"), authority.CA()
}

// The authority of the DSN is enough, and a server with an untrusted certificate is not used.
func TestIntegrationPostgresOverTLS(t *testing.T) {
	t.Parallel()
	dsn, ca := encrypted(t)
	db := sqlstoretest.Open(t, sqlstore.Config{DSN: config.DSN(dsn + "?sslmode=verify-full&sslrootcert=" + ca)})
	sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error { return set(tx, "a", "1") })
	var used bool
	if err := db.View(t.Context()).QueryRow("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").Scan(&used); err != nil || !used {
		t.Errorf("the connection is encrypted: %t, %v", used, err)
	}
	db, err := sqlstore.Open(sqlstore.Config{DSN: config.DSN(dsn + "?sslmode=verify-full"), Share: true}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "x509") {
		t.Errorf("without its authority got %v, want that the certificate is not trusted", err)
	}
}
