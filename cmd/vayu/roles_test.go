//go:build integration

package main

import (
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"vayu/internal/columnstore"
	"vayu/internal/config"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
)

// roleInstances is one instance of each role, on one PostgreSQL and one ClickHouse.
type roleInstances struct {
	*testing.T
	stores []string
	first  string // data directory with the encryption key
	key    string // of the sandbox
}

func newRoleInstances(t *testing.T) *roleInstances {
	t.Helper()
	c := &roleInstances{T: t, first: t.TempDir()}
	_, clickHouse := emptyServer(t)
	dsn := string(sqlstoretest.PostgresDSN(t))
	c.key = newKey(t, c.first, "test", "--state", dsn, "--scopes", "all")
	c.stores = []string{"--state", dsn, "--clickhouse", clickHouse}
	return c
}

// join starts an instance of a role.
func (c *roleInstances) join(role string, more ...string) *serverProcess {
	c.Helper()
	data := c.TempDir()
	if err := copyFile(filepath.Join(c.first, "encryption.key"), filepath.Join(data, "encryption.key")); err != nil {
		c.Fatal(err)
	}
	return start(c.T, data, append(append([]string{"--roles", role}, c.stores...), more...)...)
}

// leads reports whether an instance is the leader of a job.
func leads(name string) func(reply) bool {
	return func(r reply) bool { return strings.Contains(r.raw, fmt.Sprintf("vayu_leader{name=%q} 1\n", name)) }
}

// Each role does only its part. The API answers with collected air, the pipeline
// completes recharges, and the dispatcher delivers the webhook.
func TestIntegrationSeparateRolesFormOneService(t *testing.T) {
	t.Parallel()
	r, c := receive(t, nil), newRoleInstances(t)
	ingest := c.join("ingest")
	ingest.eventually("", "/metrics", leads("rollup"))
	apis := []*serverProcess{c.join("api", r.flags("--drain-delay", "2s")...), c.join("api", r.flags()...)}
	pipeline, dispatch := c.join("pipeline", "--public-url", apis[1].address), c.join("dispatch", r.flags()...)

	for _, api := range apis {
		api.eventually("", "/readyz", ok)
		if air := api.answer(c.key, aqi("Delhi")); air.status != http.StatusOK {
			t.Errorf("the air that another instance collects: %d %s", air.status, air.raw)
		}
	}
	for _, other := range []*serverProcess{ingest, pipeline, dispatch} {
		if got := other.get("", "/readyz"); got.status != http.StatusOK {
			t.Errorf("an instance without the API is not ready: %s", got.raw)
		}
		if got, err := http.Get(other.address + aqi("Delhi")); err != nil || got.StatusCode != http.StatusNotFound {
			t.Errorf("an instance without the API answers %v, %v", got, err)
		}
	}

	apis[0].subscribe(c.key, r, "/in", `"recharge.completed","recharge.failed"`)
	if paid := apis[0].send(http.MethodPost, c.key, "/v1/wallet/topups", `{"amount":500,"ref_id":"first"}`); paid.status >= 400 {
		t.Fatalf("a top-up: %d %s", paid.status, paid.raw)
	}
	order := `{"mobile":"9000000002","operator":"Airtel","amount":199,"type":"prepaid","ref_id":"apart"}`
	taken := apis[0].send(http.MethodPost, c.key, "/v1/recharge", order)
	if taken.text("transaction_id") == "" {
		t.Fatalf("a recharge: %d %s", taken.status, taken.raw)
	}
	ended := apis[1].eventually(c.key, "/v1/recharge/"+taken.text("transaction_id"), func(r reply) bool { return r.text("status") != "pending" })
	event := r.wait("the event of the recharge", func(all []received) bool { return len(all) == 1 })[0]
	if event.refused != nil || ended.text("status") != "success" || event.Type != "recharge.completed" {
		t.Errorf("the webhook has the event %s (signature: %v), and the recharge is %s", event.Type, event.refused, ended.raw)
	}

	// A draining instance is unready, and still answers.
	_ = apis[0].cmd.Process.Signal(syscall.SIGTERM)
	apis[0].eventually("", "/readyz", func(r reply) bool {
		return r.status == http.StatusServiceUnavailable && strings.Contains(r.raw, "stopping")
	})
	if last := apis[0].get(c.key, aqi("Delhi")); last.status != http.StatusOK {
		t.Errorf("a draining instance answers %d %s", last.status, last.raw)
	}
	<-apis[0].done
	if on := apis[1].get(c.key, aqi("Delhi")); on.status != http.StatusOK {
		t.Errorf("the other instance answers %d %s", on.status, on.raw)
	}

	// After a kill, another instance collects.
	next := c.join("ingest")
	ingest.stop(syscall.SIGKILL)
	next.eventually("", "/metrics", leads("rollup"))
}

// One instance migrates the tables of ClickHouse at a time. Another instance waits for the lease of the first.
// Otherwise one could rename a table while the other one changes it.
func TestIntegrationOneInstanceMigratesTablesAtATime(t *testing.T) {
	t.Parallel()
	c := newRoleInstances(t)
	state := sqlstoretest.Open(t, sqlstore.Config{DSN: config.DSN(c.stores[1])})
	change := func(statement string) {
		t.Helper()
		if err := state.Update(t.Context(), func(tx *sqlstore.Tx) error { _, err := tx.Exec(statement); return err }); err != nil {
			t.Fatal(err)
		}
	}
	change("INSERT INTO leader (name, holder, until) VALUES ('tables', 'another instance', 9000000000000000)")
	waiting := c.join("ingest")
	fixture.Eventually(t, "the instance waits for the lease", func() bool { return strings.Contains(waiting.logs.String(), "makes at a time") })
	began := time.Now()
	change("DELETE FROM leader WHERE name = 'tables'")
	waiting.eventually("", "/metrics", leads("rollup"))
	var first time.Time
	if err := connectServer(t, c.stores[3], columnstore.Storage{}).Conn().QueryRow(t.Context(), "SELECT min(applied_at) FROM vayu.migration").Scan(&first); err != nil {
		t.Fatal(err)
	}
	if first.Before(began) {
		t.Errorf("an instance migrated at %s, while another had the lease until %s", first, began)
	}
}

// A second ClickHouse on the state store of another would get a part of the sources, so its instance ends with a reason.
func TestIntegrationASecondClickHouseOnOneStateStoreIsRefused(t *testing.T) {
	t.Parallel()
	c := newRoleInstances(t)
	first := c.join("ingest")
	first.eventually("", "/metrics", leads("rollup"))

	_, clickHouse := emptyServer(t)
	data := t.TempDir()
	if err := copyFile(filepath.Join(c.first, "encryption.key"), filepath.Join(data, "encryption.key")); err != nil {
		t.Fatal(err)
	}
	other := append([]string{"--roles", "ingest"}, append(slices.Clone(c.stores), "--clickhouse", clickHouse)...)
	refused, _ := startProcess(t, exec.Command(binary(t)), data, other...)
	<-refused.done
	if logs := refused.logs.String(); refused.cmd.ProcessState.ExitCode() != 1 || !strings.Contains(logs, "Use the same --clickhouse, or another --state") {
		t.Errorf("it ends with status %d and logs\n%s", refused.cmd.ProcessState.ExitCode(), logs)
	}

	first.stop(syscall.SIGTERM)
	replaced := start(t, data, other...) // no instance with the other ClickHouse runs any more
	replaced.eventually("", "/metrics", leads("rollup"))
}
