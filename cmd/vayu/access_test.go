//go:build integration

package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"vayu/internal/sqlstore/sqlstoretest"
)

var printedKey = regexp.MustCompile(`sk_(live|test)_[0-9A-Za-z]{39}`)

func TestIntegrationFirstStartShowsItsKeysOnce(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := start(t, data)
	s.eventually("", "/readyz", ok)
	keys := printedKey.FindAllString(s.logs.String(), -1)
	byMode := map[string]string{}
	for _, key := range keys {
		byMode[key[:8]] = key
	}
	if len(byMode) != 2 {
		t.Fatalf("the first start prints %d keys:\n%s", len(byMode), s.logs)
	}
	if r := s.eventually(byMode["sk_test_"], aqi("Delhi"), ok); r.header.Get("X-SERVICE-Mode") != "sandbox" {
		t.Errorf("the sandbox key answers %s", r.raw)
	}
	r := s.get(byMode["sk_live_"], "/v1/account")
	if r.status != http.StatusOK || r.text("name") != "default" || r.text("plan") != "free" {
		t.Errorf("the account of the live key: %d %s", r.status, r.raw)
	}
	s.stop(syscall.SIGTERM)
	again := start(t, data)
	again.eventually(byMode["sk_test_"], aqi("Delhi"), ok)
	if shown := printedKey.FindString(again.logs.String()); shown != "" {
		t.Error("the second start prints a key")
	}
	out, err := vayu(t, data, "key", "list")
	if err != nil || strings.Contains(out, keys[0]) || strings.Count(out, "active") != 2 {
		t.Errorf("the list of keys: %v\n%s", err, out)
	}
}

func TestIntegrationKeyChangesReachRunningService(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir())
	is := func(status int, code string) func(reply) bool {
		return func(r reply) bool { return r.status == status && r.code() == code }
	}
	// Made by the command, known to the service.
	key := newKey(t, s.data, "test", "--name", "mine", "--scopes", "account:read")
	s.eventually(key, "/v1/account", ok)
	if r := s.get(key, aqi("Delhi")); !is(http.StatusForbidden, "insufficient_scope")(r) {
		t.Errorf("outside its scopes: %d %s", r.status, r.raw)
	}
	id := s.idOf(key)
	out, err := vayu(t, s.data, "key", "rotate", id, "--grace", "0s", "--quiet")
	if err != nil {
		t.Fatalf("rotating: %v\n%s", err, out)
	}
	next := strings.TrimSpace(out)
	s.eventually(key, "/v1/account", is(http.StatusUnauthorized, "key_expired"))
	s.eventually(next, "/v1/account", ok)
	if out, err := vayu(t, s.data, "key", "revoke", s.idOf(next)); err != nil {
		t.Fatalf("revoking: %v\n%s", err, out)
	}
	s.eventually(next, "/v1/account", is(http.StatusUnauthorized, "key_revoked"))
	// The command takes seconds on a busy machine, and refuses a key that is expired already.
	expired := newKey(t, s.data, "test", "--expires", "10s")
	s.eventually(expired, aqi("Delhi"), is(http.StatusUnauthorized, "key_expired"))
	elsewhere := newKey(t, s.data, "test", "--allow", "192.0.2.0/24")
	s.eventually(elsewhere, aqi("Delhi"), is(http.StatusForbidden, "ip_not_allowed"))
	if r := s.send(http.MethodGet, elsewhere, aqi("Delhi"), "", "X-Forwarded-For", "192.0.2.7"); r.code() != "ip_not_allowed" {
		t.Errorf("a forged X-Forwarded-For passes the allow list: %d %s", r.status, r.raw)
	}
	if out, err := vayu(t, s.data, "audit", "verify"); err != nil {
		t.Errorf("audit verify: %v\n%s", err, out)
	}
}

// idOf finds the id of a key by its last characters.
func (s *serverProcess) idOf(key string) string {
	s.Helper()
	out, err := vayu(s.T, s.data, "key", "list")
	if err != nil {
		s.Fatalf("listing keys: %v\n%s", err, out)
	}
	for line := range strings.Lines(out) {
		if strings.Contains(line, "…"+key[len(key)-4:]) {
			return strings.Fields(line)[0]
		}
	}
	s.Fatalf("the key …%s is not listed:\n%s", key[len(key)-4:], out)
	return ""
}

func TestIntegrationTwoInstancesShareOnePostgreSQL(t *testing.T) {
	t.Parallel()
	dsn := string(sqlstoretest.PostgresDSN(t))
	one, two := t.TempDir(), t.TempDir()
	key := newKey(t, one, "live", "--state", dsn, "--scopes", "all", "--plan", "free")
	a := start(t, one, "--state", dsn)
	if err := copyFile(filepath.Join(one, "encryption.key"), filepath.Join(two, "encryption.key")); err != nil {
		t.Fatal(err)
	}
	b := start(t, two, "--state", dsn)
	made := a.send(http.MethodPost, key, "/v1/keys", `{"name":"both"}`, "Idempotency-Key", "k1")
	if made.status != http.StatusCreated {
		t.Fatalf("making a key: %d %s", made.status, made.raw)
	}
	replayed := b.send(http.MethodPost, key, "/v1/keys", `{"name":"both"}`, "Idempotency-Key", "k1")
	if replayed.raw != made.raw || replayed.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the same request on the other instance: %d %s", replayed.status, replayed.raw)
	}
	b.eventually(made.text("key"), "/v1/account", ok)
	// Both instances share one quota.
	var wg sync.WaitGroup
	for i := range 1100 {
		s := a
		if i%2 == 1 {
			s = b
		}
		wg.Go(func() { _, _ = s.try(http.MethodGet, made.text("key"), "/v1/cities", "") })
	}
	wg.Wait()
	for _, s := range []*serverProcess{a, b} {
		s.eventually(made.text("key"), "/v1/cities", func(r reply) bool { return r.code() == "quota_exceeded" })
	}
	if r := a.send(http.MethodDelete, newKey(t, one, "test", "--state", dsn), "/v1/keys/"+made.text("id"), ""); r.status == http.StatusOK {
		t.Errorf("a key without keys:manage revokes: %s", r.raw)
	}
	if out, err := vayu(t, one, "key", "revoke", made.text("id"), "--state", dsn); err != nil {
		t.Fatalf("revoking: %v\n%s", err, out)
	}
	for _, s := range []*serverProcess{a, b} {
		s.eventually(made.text("key"), "/v1/cities", func(r reply) bool { return r.code() == "key_revoked" })
	}
	if out, err := vayu(t, one, "audit", "verify", "--state", dsn); err != nil {
		t.Errorf("audit verify: %v\n%s", err, out)
	}
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

// sign makes the signature of a request as a client does.
func sign(secret, method, target, body string, at time.Time) string {
	t := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = fmt.Fprintf(mac, "%s.%s.%s.%s", t, method, target, body)
	return "t=" + t + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}

func TestIntegrationNoSecretIsExposed(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), "--log-level", "debug")
	made := s.send(http.MethodPost, s.sandbox, "/v1/keys", `{"name":"signed","require_signature":true}`, "Idempotency-Key", "once")
	secrets := []string{s.live, s.sandbox, made.text("key"), made.text("signing_secret")}
	for _, secret := range secrets {
		if len(secret) < 30 {
			t.Fatalf("a secret is missing in %s", made.raw)
		}
	}
	target := "/v1/account"
	signature := sign(made.text("signing_secret"), http.MethodGet, target, "", time.Now())
	if r := s.send(http.MethodGet, made.text("key"), target, "", "X-SERVICE-Request-Signature", signature); r.status != http.StatusOK {
		t.Errorf("a signed request: %d %s", r.status, r.raw)
	}
	if r := s.send(http.MethodGet, made.text("key"), target, "", "X-SERVICE-Request-Signature", signature); r.code() != "signature_invalid" {
		t.Errorf("the same signature again: %d %s", r.status, r.raw)
	}
	if r := s.get(made.text("key"), target); r.code() != "signature_required" {
		t.Errorf("without a signature: %d %s", r.status, r.raw)
	}
	s.get(s.live+"x", aqi("Delhi"))
	s.get(s.live, "/v1/aqi?api_key="+s.live)
	s.get(s.live, "/v1/keys/"+s.live)
	s.get(s.live, "/v1/stations/"+s.live)
	s.send(http.MethodPost, s.sandbox, "/v1/keys", `{"name":`)
	s.send(http.MethodPost, s.sandbox, "/v1/keys/"+made.text("id")+"/rotate", `{"grace_seconds":0}`)
	outputs := map[string]string{
		"metrics": s.get("", "/metrics").raw,
		"audit":   s.get(s.sandbox, "/v1/audit").raw,
		"keys":    s.get(s.sandbox, "/v1/keys").raw,
		"usage":   s.get(s.sandbox, "/v1/usage").raw,
	}
	s.stop(syscall.SIGTERM)
	outputs["logs"] = s.logs.String()
	files, err := filepath.Glob(filepath.Join(s.data, "state.db*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the state store: %v %v", files, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		outputs[filepath.Base(f)] = string(text)
	}
	for where, text := range outputs {
		for i, secret := range secrets {
			// The first characters of a key are shown on purpose.
			if at := strings.Index(text, secret[14:]); at >= 0 {
				t.Errorf("%s contains secret %d from its 15th character on, at byte %d", where, i, at)
			}
		}
	}
}

func TestIntegrationTheContractHoldsAgainstAFuzzer(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), "--public", "sandbox", "--signup-mode", "open")
	s.eventually(s.sandbox, aqi("Delhi"), ok)
	cmd := exec.CommandContext(t.Context(), "../../.ci/schemathesis", s.address, s.sandbox)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if strings.Contains(s.logs.String(), `"level":"ERROR"`) {
		t.Errorf("the service logged errors:\n%s", s.logs)
	}
}
