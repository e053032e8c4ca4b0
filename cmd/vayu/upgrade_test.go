//go:build integration

package main

import (
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// All data of an earlier version are readable, and the API answers are the same.
func TestIntegrationAnUpgradeLosesNothing(t *testing.T) {
	t.Parallel()
	eachRelease(t, func(t *testing.T, old released) {
		first, second := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second")
		for _, args := range [][]string{{"backup", first}, {"migrate"}, {"backup", second}} { // the first command migrates
			if out, err := vayu(t, old.data, args...); err != nil {
				t.Fatalf("vayu %s: %v\n%s", args[0], err, out)
			}
		}
		compareBackups(t, old.backup, first)
		compareBackups(t, first, second)

		r := receive(t, nil)
		s := start(t, old.data, r.flags()...)
		s.eventually("", "/readyz", ok)
		s.compareAnswers(old)
		s.goesOn(old, r)
		s.stop(syscall.SIGTERM)
		again := start(t, old.data, r.flags()...)
		again.eventually("", "/readyz", ok)
		again.compareAnswers(old, "/v1/webhooks", "/v1/deliveries") // whose URL was changed
	})
}

// A backup of an earlier version is restored into the engine and PostgreSQL.
func TestIntegrationABackupOfAnOldVersionIsRestored(t *testing.T) {
	t.Parallel()
	eachRelease(t, func(t *testing.T, old released) {
		stored := []string{"--state", string(sqlstoretest.PostgresDSN(t))}
		data := filepath.Join(t.TempDir(), "restored")
		if out, err := vayu(t, data, append(stored, "restore", old.backup)...); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		now := filepath.Join(t.TempDir(), "now")
		if out, err := vayu(t, data, append(stored, "backup", now)...); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		compareBackups(t, old.backup, now)

		r := receive(t, nil)
		s := start(t, data, r.flags(stored...)...)
		s.eventually("", "/readyz", ok)
		s.compareAnswers(old)
		s.goesOn(old, r, stored...)
	})
}

// goesOn makes new requests on the old data.
func (s *serverProcess) goesOn(old released, r *inbox, stored ...string) {
	s.Helper()
	s.eventually(old.Sandbox, "/v1/recharge/"+old.Begun, func(r reply) bool { return r.text("status") == "success" })

	r.mu.Lock()
	r.secrets = []string{old.Secret}
	r.mu.Unlock()
	if moved := s.send(http.MethodPatch, old.Sandbox, "/v1/webhooks/"+old.Webhook, fmt.Sprintf(`{"url":%q,"active":true}`, r.URL+"/")); moved.status != http.StatusOK {
		s.Fatalf("changing the URL of a subscription: %d %s", moved.status, moved.raw)
	}
	paid := s.send(http.MethodPost, old.Sandbox, "/v1/recharge", `{"mobile":"9000000001","operator":"auto","amount":15,"type":"prepaid","ref_id":"after-1"}`, "Prefer", "wait=10")
	verified := s.send(http.MethodPost, old.Sandbox, "/v1/bank/verify", `{"account_number":"001122330001","ifsc":"SBIN0000691","name":"Rajesh Kumar Sharma","ref_id":"after-2"}`)
	if paid.text("status") != "success" || verified.text("status") != "success" {
		s.Errorf("new work: %d %s, %d %s", paid.status, paid.raw, verified.status, verified.raw)
	}
	signed := func(all []received) bool {
		done := map[string]bool{}
		for _, d := range all {
			if d.refused != nil {
				s.Errorf("the old secret has not signed %s: %v", d.ID, d.refused)
			}
			done[string(d.Type)] = done[string(d.Type)] || strings.Contains(string(d.body), "after-")
		}
		return done["recharge.completed"] && done["verification.completed"]
	}
	r.wait("events of both", signed)
	if twice := s.send(http.MethodPost, old.Sandbox, "/v1/recharge", `{"mobile":"9000000001","operator":"auto","amount":199,"type":"prepaid","ref_id":"order-1"}`); twice.status >= 400 {
		s.Errorf("an order of before again: %d %s", twice.status, twice.raw)
	}
	for _, args := range [][]string{{"audit", "verify"}, {"ledger", "verify"}} {
		if out, err := vayu(s.T, s.data, append(args, stored...)...); err != nil {
			s.Errorf("vayu %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// A program that is older than the data exits with a reason, and changes nothing.
func TestIntegrationAnOlderProgramRefusesNewerData(t *testing.T) {
	t.Parallel()
	const later = "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, TRUE)"
	for name, store := range map[string]sqlstore.Config{"sqlite": {Data: t.TempDir()}, "postgres": {DSN: sqlstoretest.PostgresDSN(t)}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, stop := sqlstoretest.Start(t, store)
			sqlstoretest.Exec(t, db, later)
			stop()
			data, args := store.Data, []string{}
			if store.DSN != "" {
				data, args = t.TempDir(), []string{"--state", string(store.DSN)}
			}
			s, served := startProcess(t, exec.Command(binary(t)), data, args...)
			if served {
				s.stop(syscall.SIGTERM)
				t.Error("it serves")
			}
			<-s.done
			if !strings.Contains(s.logs.String(), "belongs to a newer vayu") || s.cmd.ProcessState.ExitCode() == 0 {
				t.Errorf("it ends with status %d and logs\n%s", s.cmd.ProcessState.ExitCode(), s.logs)
			}
			for _, args := range [][]string{append([]string{"account", "list"}, args...), append([]string{"key", "list"}, args...)} {
				if out, err := vayu(t, data, args...); err == nil || !strings.Contains(out, "belongs to a newer vayu") {
					t.Errorf("vayu %s: %v\n%s", args[0], err, out)
				}
			}
		})
	}
	t.Run("clickhouse", func(t *testing.T) {
		t.Parallel()
		data := t.TempDir()
		if out, err := vayu(t, data, "migrate"); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if out, err := vayu(t, data, "sql", "--write", "INSERT INTO vayu.migration (version, name, checksum) VALUES (9999, '9999_later.sql', '')"); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		s, _ := startProcess(t, exec.Command(binary(t)), data)
		<-s.done
		if logs := s.logs.String(); !strings.Contains(logs, "newer version of this program") || !strings.Contains(logs, "9999_later.sql") || s.cmd.ProcessState.ExitCode() == 0 {
			t.Errorf("it ends with status %d and logs\n%s", s.cmd.ProcessState.ExitCode(), logs)
		}
		if out, err := vayu(t, data, "sql", "SELECT 1"); err == nil || !strings.Contains(out, "newer version of this program") {
			t.Errorf("vayu sql: %v\n%s", err, out)
		}
	})
}
