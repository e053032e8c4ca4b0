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

// fleet is instances with roles of their own, on servers that they share.
type fleet struct {
	*testing.T

	env    []string // the servers, and the encryption key
	air    *columnstore.DB
	api    *serving
	worker *serving // everything else
	end    func()   // of ClickHouse
}

// newFleet has servers with nothing on them.
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
	for roles, one := range map[string]**serving{"ingest,pipeline,dispatch": &f.worker, "api": &f.api} {
		cmd := exec.Command(binary(f.T))
		cmd.Env = f.env
		s, served := begin(f.T, cmd, f.TempDir(), append(flags, "--roles", roles)...)
		if !served {
			f.Fatalf("the instance with the roles %s ended:\n%s", roles, s.logs)
		}
		*one = s
	}
}

// vayu runs a command on a machine of its own.
func (f *fleet) vayu(args ...string) (string, error) {
	f.Helper()
	cmd := exec.CommandContext(f.Context(), binary(f.T), append(args, "--data", filepath.Join(f.TempDir(), "data"))...)
	cmd.Env, cmd.Dir = f.env, f.TempDir()
	var out, said strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if err != nil {
		return out.String() + said.String(), err
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

// order asks for a recharge, and returns its id.
func (f *fleet) order(key, mobile, ref string) string {
	f.Helper()
	r := f.api.send(http.MethodPost, key, "/v1/recharge", fmt.Sprintf(`{"mobile":%q,"operator":"auto","amount":10,"type":"prepaid","ref_id":%q}`, mobile, ref))
	if r.status >= 300 {
		f.Fatalf("order %s: %d %s", ref, r.status, r.raw)
	}
	return r.text("transaction_id")
}

// A backup that was made under load, of servers that are lost then, comes back on others,
// and everything goes on.
func TestIntegrationABackupOfServersComesBack(t *testing.T) {
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
	day := aqi("Delhi", "date", (&serving{T: t, address: f.api.address, sandbox: key}).yesterday())
	past := f.api.eventually(key, day, ok)

	before := map[string]string{} // by ref, what was ordered before the backup
	for n := range 20 {
		ref := fmt.Sprint("before-", n)
		before[ref] = f.order(key, "9000000001", ref)
	}
	told := r.wait("the first events", func(all []got) bool { return len(all) >= 20 })
	slow, forever := f.order(key, "9000000002", "slow"), f.order(key, "9000000007", "forever")
	before["slow"], before["forever"] = slow, forever
	f.api.eventually(key, "/v1/deliveries?state=waiting", func(r reply) bool {
		data, _ := r.body["data"].([]any)
		return r.status == http.StatusOK && len(data) == 0
	})

	// Orders come in all the while, and those after the backup are lost with the servers.
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
	said := f.must("backup", backup)
	close(stop)
	<-stopped
	if !strings.Contains(said, "not in the backup") {
		t.Errorf("the backup does not say that the key is elsewhere:\n%s", said)
	}
	f.api.stop(syscall.SIGKILL)
	f.worker.stop(syscall.SIGKILL)
	f.end()

	again := newFleet(t, secret)
	f.refuses(again, backup)
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
		t.Errorf("what is pending for ever is %s", is.raw)
	}
	if now := again.api.eventually(key, day, ok); now.text("aqi") != past.text("aqi") || now.body["aqi"] != past.body["aqi"] {
		t.Errorf("the air of %s was %s, and is %s", day, past.raw, now.raw)
	}
	again.api.eventually(key, "/v1/deliveries?state=waiting", func(r reply) bool {
		data, _ := r.body["data"].([]any)
		return r.status == http.StatusOK && len(data) == 0
	})
	fresh := again.order(key, "9000000001", "after")
	all := r.wait("what came after", func(all []got) bool {
		return slices.ContainsFunc(all, func(d got) bool { return strings.Contains(string(d.body), fresh) })
	})
	for _, d := range all[len(told):] {
		if slices.ContainsFunc(told, func(t got) bool { return t.ID == d.ID }) {
			t.Errorf("%s was delivered long before the backup, and came again", d.ID)
		}
		if d.refused != nil {
			t.Errorf("%s does not verify: %v", d.ID, d.refused)
		}
	}
	r.wait("the event of what was pending", func(all []got) bool {
		return slices.ContainsFunc(all, func(d got) bool { return strings.Contains(string(d.body), slow) })
	})
	again.must("ledger", "verify")
	again.must("audit", "verify")
}

// refuses tries a restore without the key, and over a store that has an account, which
// must be told before anything is brought to ClickHouse.
func (f *fleet) refuses(again *fleet, backup string) {
	f.Helper()
	keyless, taken := *again, *again
	keyless.env = slices.DeleteFunc(slices.Clone(again.env), func(v string) bool { return strings.HasPrefix(v, "VAYU_ENCRYPTION_KEY=") })
	if out, err := keyless.vayu("restore", backup); err == nil || !strings.Contains(out, "VAYU_ENCRYPTION_KEY") {
		f.Errorf("without the key: %v\n%s", err, out)
	}
	taken.env = append(slices.Clone(again.env), "VAYU_STATE="+string(sqlstoretest.PostgresDSN(f.T)))
	taken.must("account", "create", "somebody")
	if out, err := taken.vayu("restore", backup); err == nil || !strings.Contains(out, "1 accounts") {
		f.Errorf("over somebody's: %v\n%s", err, out)
	}
	var databases uint64
	if err := again.air.Conn().QueryRow(f.Context(), "SELECT count() FROM system.databases WHERE name LIKE 'vayu%'").Scan(&databases); err != nil || databases != 0 {
		f.Errorf("a restore that was refused has made %d databases, %v", databases, err)
	}
}
