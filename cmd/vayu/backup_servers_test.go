//go:build integration

package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/embedded"
	"vayu/internal/sqlstore/sqlstoretest"
)

// fleet is a set of instances with separate roles on shared servers.
type fleet struct {
	*testing.T

	env    []string // the servers, and the encryption key
	air    *columnstore.DB
	api    *serverProcess
	worker *serverProcess // all roles but the API
	end    func()         // of ClickHouse
}

// newFleet starts empty servers.
func newFleet(t *testing.T, key string) *fleet {
	t.Helper()
	f := &fleet{T: t}
	c := columnstore.Default()
	c.Port, c.Data, c.Command = 0, t.TempDir(), []string{binary(t), "engine"}
	var err error
	if f.air, err = columnstore.Open(c, slog.New(slog.DiscardHandler), nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = f.air.Run(ctx)
	}()
	f.end = func() { cancel(); <-ended }
	t.Cleanup(f.end)
	if err := f.air.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	address, password, err := embedded.Access(c.Data)
	if err != nil {
		t.Fatal(err)
	}
	f.env = append(os.Environ(), "VAYU_STATE="+string(sqlstoretest.PostgresDSN(t)), "VAYU_CLICKHOUSE=http://default:"+password+"@"+address+"/",
		"VAYU_ENCRYPTION_KEY="+key, "VAYU_PUBLIC_URL=http://127.0.0.1:8080")
	return f
}

// open starts the instances.
func (f *fleet) open(flags ...string) {
	f.Helper()
	for roles, one := range map[string]**serverProcess{"ingest,pipeline,dispatch": &f.worker, "api": &f.api} {
		cmd := exec.Command(binary(f.T))
		cmd.Env = f.env
		s, served := startProcess(f.T, cmd, f.TempDir(), append(flags, "--roles", roles)...)
		if !served {
			f.Fatalf("the instance with the roles %s ended:\n%s", roles, s.logs)
		}
		*one = s
	}
}

// vayu runs a command with its own data directory.
func (f *fleet) vayu(args ...string) (string, error) {
	f.Helper()
	cmd := exec.CommandContext(f.Context(), binary(f.T), append(args, "--data", filepath.Join(f.TempDir(), "data"))...)
	cmd.Env, cmd.Dir = f.env, f.TempDir()
	var out, messages strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &messages
	err := cmd.Run()
	if err != nil {
		return out.String() + messages.String(), err
	}
	return out.String(), nil
}

func (f *fleet) must(args ...string) string {
	f.Helper()
	out, err := f.vayu(args...)
	if err != nil {
		f.Fatalf("vayu %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// order requests a recharge, and returns its id.
func (f *fleet) order(key, mobile, ref string) string {
	f.Helper()
	r := f.api.send(http.MethodPost, key, "/v1/recharge", fmt.Sprintf(`{"mobile":%q,"operator":"auto","amount":10,"type":"prepaid","ref_id":%q}`, mobile, ref))
	if r.status >= 300 {
		f.Fatalf("order %s: %d %s", ref, r.status, r.raw)
	}
	return r.text("transaction_id")
}

// A backup under load is restored on other servers after the loss of the first ones.
func TestIntegrationBackupOfServersIsRestored(t *testing.T) {
	t.Parallel()
	raw := make([]byte, 32)
	_, _ = rand.Read(raw)
	secret := base64.StdEncoding.EncodeToString(raw)
	r := receive(t, nil)
	f := newFleet(t, secret)
	f.open(r.flags()...)
	key := strings.TrimSpace(f.must("key", "create", "--mode", "test", "--scopes", "all", "--quiet"))
	f.api.eventually(key, "/v1/account", ok)
	f.api.subscribe(key, r, "/", `"recharge.completed"`)
	f.api.send(http.MethodPost, key, "/v1/wallet/topups", `{"amount":9000}`)
	f.api.eventually(key, aqi("Delhi"), ok)
	day := aqi("Delhi", "date", (&serverProcess{T: t, address: f.api.address, sandbox: key}).yesterday())
	past := f.api.eventually(key, day, ok)

	before := map[string]string{} // by ref, what was ordered before the backup
	for n := range 20 {
		ref := fmt.Sprint("before-", n)
		before[ref] = f.order(key, "9000000001", ref)
	}
	delivered := r.wait("the first events", func(all []received) bool { return len(all) >= 20 })
	slow, forever := f.order(key, "9000000002", "slow"), f.order(key, "9000000007", "forever")
	before["slow"], before["forever"] = slow, forever
	f.api.eventually(key, "/v1/deliveries?state=waiting", func(r reply) bool {
		data, _ := r.body["data"].([]any)
		return r.status == http.StatusOK && len(data) == 0
	})

	// Orders continue during the backup; those after it are lost with the servers.
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
				_, _ = f.api.try(http.MethodPost, key, "/v1/recharge", fmt.Sprintf(`{"mobile":"9000000001","operator":"auto","amount":10,"type":"prepaid","ref_id":"meanwhile-%d"}`, n))
			}
		}
	}()
	backup := filepath.Join(t.TempDir(), "backup")
	output := f.must("backup", backup)
	close(stop)
	<-stopped
	if !strings.Contains(output, "not in the backup") {
		t.Errorf("the output does not mention that the key is elsewhere:\n%s", output)
	}
	f.api.stop(syscall.SIGKILL)
	f.worker.stop(syscall.SIGKILL)
	f.end()

	again := newFleet(t, secret)
	f.checkRefusedRestores(again, backup)
	again.must("restore", backup)
	again.must("ledger", "verify")
	again.must("audit", "verify")
	again.open(r.flags()...)
	for ref, txn := range before {
		if found := again.api.eventually(key, "/v1/recharge/"+txn, ok); found.text("ref_id") != ref {
			t.Errorf("%s is %s", txn, found.raw)
		}
	}
	again.api.eventually(key, "/v1/recharge/"+slow, func(r reply) bool { return r.text("status") == "success" })
	if is := again.api.get(key, "/v1/recharge/"+forever); is.text("status") != "pending" {
		t.Errorf("a recharge without an outcome is %s", is.raw)
	}
	if now := again.api.eventually(key, day, ok); now.text("aqi") != past.text("aqi") || now.body["aqi"] != past.body["aqi"] {
		t.Errorf("the air of %s was %s, and is %s", day, past.raw, now.raw)
	}
	again.api.eventually(key, "/v1/deliveries?state=waiting", func(r reply) bool {
		data, _ := r.body["data"].([]any)
		return r.status == http.StatusOK && len(data) == 0
	})
	// On a slow machine, the orders during the backup have used the whole balance.
	again.api.send(http.MethodPost, key, "/v1/wallet/topups", `{"amount":100}`)
	fresh := again.order(key, "9000000001", "after")
	all := r.wait("what came after", func(all []received) bool {
		return slices.ContainsFunc(all, func(d received) bool { return strings.Contains(string(d.body), fresh) })
	})
	for _, d := range all[len(delivered):] {
		if slices.ContainsFunc(delivered, func(t received) bool { return t.ID == d.ID }) {
			t.Errorf("%s was delivered before the backup and again after the restore", d.ID)
		}
		if d.refused != nil {
			t.Errorf("%s does not verify: %v", d.ID, d.refused)
		}
	}
	r.wait("the event of what was pending", func(all []received) bool {
		return slices.ContainsFunc(all, func(d received) bool { return strings.Contains(string(d.body), slow) })
	})
	again.must("ledger", "verify")
	again.must("audit", "verify")
}

// checkRefusedRestores tries a restore without the key, and one into a store with an
// account. Both must fail before any change of ClickHouse.
func (f *fleet) checkRefusedRestores(again *fleet, backup string) {
	f.Helper()
	keyless, taken := *again, *again
	keyless.env = slices.DeleteFunc(slices.Clone(again.env), func(v string) bool { return strings.HasPrefix(v, "VAYU_ENCRYPTION_KEY=") })
	if out, err := keyless.vayu("restore", backup); err == nil || !strings.Contains(out, "VAYU_ENCRYPTION_KEY") {
		f.Errorf("without the key: %v\n%s", err, out)
	}
	taken.env = append(slices.Clone(again.env), "VAYU_STATE="+string(sqlstoretest.PostgresDSN(f.T)))
	taken.must("account", "create", "somebody")
	if out, err := taken.vayu("restore", backup); err == nil || !strings.Contains(out, "1 accounts") {
		f.Errorf("into a store with an account: %v\n%s", err, out)
	}
	var databases uint64
	if err := again.air.Conn().QueryRow(f.Context(), "SELECT count() FROM system.databases WHERE name LIKE 'vayu%'").Scan(&databases); err != nil || databases != 0 {
		f.Errorf("a restore that was refused has made %d databases, %v", databases, err)
	}
}
