package server_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/config"
	"vayu/internal/sqlstore/server"
)

func TestUnencryptedHosts(t *testing.T) {
	t.Parallel()
	for dsn, want := range map[config.DSN][]string{
		"":                                   nil,
		"postgres://u:p@pg.example.com/vayu": {"pg.example.com"},
		"postgres://u:p@pg1:5432,pg2:5432/vayu?sslmode=prefer":                {"pg1", "pg2"},
		"postgres://u:p@pg1,127.0.0.1/vayu?sslmode=disable":                   {"pg1"},
		"postgres://u:p@10.0.0.7/vayu?sslmode=allow":                          {"10.0.0.7"},
		"postgres://u:p@pg1:5432,pg2:5432/vayu?sslmode=require":               nil,
		"postgres://u:p@pg.example.com/vayu?sslmode=verify-full":              nil,
		"postgres://u:p@localhost/vayu":                                       nil,
		"postgres://u:p@127.0.0.2:5432,[::1]:5433/vayu?sslmode=disable":       nil,
		"postgres://u:p@/vayu?host=/var/run/postgresql":                       nil,
		"host=pg.example.com user=u password=p dbname=vayu sslmode=no-matter": nil, // Open rejects it
	} {
		if diff := cmp.Diff(want, server.UnencryptedHosts(dsn)); diff != "" {
			t.Errorf("%s:\n%s", dsn, diff)
		}
	}
}
