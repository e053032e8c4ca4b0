package main

import (
	"net/url"
	"strings"
	"testing"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/columnstore/embedded"
)

// serverUsers starts a ClickHouse with Vayu's tables, and returns the DSN of its administrator and its analyst.
func serverUsers(t *testing.T) (admin, analyst string) {
	t.Helper()
	data := t.TempDir()
	columnstoretest.Start(t, func(c *columnstore.Config) { c.Data, c.Readable = data, []string{"vayu", "vayu_sandbox"} })
	address, password, err := embedded.AnalystAccess(data)
	if err != nil {
		t.Fatal(err)
	}
	analyst = (&url.URL{Scheme: "http", User: url.UserPassword("analyst", password), Host: address, Path: "/"}).String()
	if address, password, err = embedded.Access(data); err != nil {
		t.Fatal(err)
	}
	admin = (&url.URL{Scheme: "http", User: url.UserPassword("default", password), Host: address, Path: "/"}).String()
	if out, err := command(t.Context(), "migrate", "--clickhouse", admin, "--data", t.TempDir()); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	return admin, analyst
}

// On a server, vayu sql reads as the user of the setting clickhouse-analyst, and as that of clickhouse with --write.
func TestSQLReadsAsAnalystOfServer(t *testing.T) {
	t.Parallel()
	admin, analyst := serverUsers(t)
	data := t.TempDir()
	const readable, private = "SELECT count() FROM station", "SELECT count() FROM vayu_ops.source_run"
	for name, test := range map[string]struct {
		args []string
		want string // in the error; "" for none
	}{
		"analyst reads":              {[]string{"--clickhouse-analyst", analyst, readable}, ""},
		"analyst and private tables": {[]string{"--clickhouse-analyst", analyst, private}, "--write runs it as the administrator"},
		"administrator":              {[]string{"--clickhouse-analyst", analyst, "--write", private}, ""},
		"no analyst":                 {[]string{private}, ""},
		"no analyst writes":          {[]string{"CREATE DATABASE other"}, "need --write"},
		"wrong DSN":                  {[]string{"--clickhouse-analyst", "http://[", readable}, "clickhouse-analyst"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := command(t.Context(), append([]string{"sql", "--clickhouse", admin, "--data", data, "--format", "csv"}, test.args...)...)
			if test.want == "" && err != nil {
				t.Errorf("got %v, want no error", err)
			}
			if test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}
