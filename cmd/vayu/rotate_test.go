package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vayu/cmd/vayu/settings"
	"vayu/internal/access"
	"vayu/internal/config"
	"vayu/internal/encryption"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// eachEncryptedStore runs a test with the flags of a new store of each kind. The store
// has the encrypted signing secret of one key.
func eachEncryptedStore(t *testing.T, do func(t *testing.T, c sqlstore.Config, secret string, flags []string)) {
	t.Helper()
	for name, dsn := range map[string]func(testing.TB) config.DSN{
		"sqlite": func(testing.TB) config.DSN { return "" }, "postgres": sqlstoretest.PostgresDSN,
	} {
		t.Run(name, func(t *testing.T) {
			c := sqlstore.Config{Data: t.TempDir(), DSN: dsn(t)}
			flags := []string{"--data", c.Data, "--state", string(c.DSN)}
			out, err := command(t.Context(), append([]string{"key", "create", "--mode", "live", "--require-signature", "--quiet"}, flags...)...)
			if err != nil {
				t.Fatal(out, err)
			}
			do(t, c, strings.Fields(out)[1], flags)
		})
	}
}

// rotate runs the command, and checks that its output or error contains want.
func rotate(t *testing.T, want string, flags []string) string {
	t.Helper()
	out, err := command(t.Context(), append([]string{"encryption", "rotate"}, flags...)...)
	if err != nil {
		out += userMessage(err)
	}
	if !strings.Contains(out, want) {
		t.Errorf("got %s, want %s", out, want)
	}
	return out
}

// wantSecret checks that the store opens with a key and has the signing secret.
func wantSecret(t *testing.T, c sqlstore.Config, key config.Secret, want string) {
	t.Helper()
	db, stop := sqlstoretest.Start(t, c)
	defer stop()
	box, err := encryption.Open(key, c.Data)
	if err == nil {
		err = box.Claim(context.Background(), db)
	}
	if err != nil {
		t.Fatal(err)
	}
	var id string
	var encrypted []byte
	if err := db.View(t.Context()).QueryRow("SELECT id, signing_secret FROM api_key").Scan(&id, &encrypted); err != nil {
		t.Fatal(err)
	}
	if got, err := access.EncryptedColumns()[0].Decrypt(box, encrypted, id); err != nil || string(got) != want {
		t.Errorf("the secret is %q, %v, want %q", got, err, want)
	}
}

func TestRotateKeyFile(t *testing.T) {
	t.Parallel()
	eachEncryptedStore(t, func(t *testing.T, c sqlstore.Config, secret string, flags []string) {
		t.Parallel()
		path := filepath.Join(c.Data, "encryption.key")
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		db, stop := sqlstoretest.Start(t, c)
		if err := db.Check(t.Context()); err != nil { // as a service that runs, it has a connection
			t.Fatal(err)
		}
		refusal := "is held by pid"
		if c.DSN != "" {
			refusal = "stop every instance"
		}
		rotate(t, refusal, flags)
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, before) {
			t.Errorf("with a running service: got the key %q, %v, want %q", now, err, before)
		}
		stop()
		out := rotate(t, "1 of api_key.signing_secret\n", flags)
		for _, line := range []string{"0 of webhook.previous_secret\n", "0 of verification.private\n", "the encryption key is "} {
			if !strings.Contains(out, line) {
				t.Errorf("got %s, want %s", out, line)
			}
		}
		if now, err := os.ReadFile(path); err != nil || bytes.Equal(now, before) {
			t.Errorf("after the rotation: got the key %q, %v, want another than %q", now, err, before)
		}
		wantSecret(t, c, config.Secret{}, secret)
		rotate(t, "1 of api_key.signing_secret\n", flags)
		wantSecret(t, c, config.Secret{}, secret)
	})
}

func TestRotateKeySetting(t *testing.T) {
	keys := make([]string, 2)
	for i := range keys {
		keys[i] = base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{byte(i)}, 32))
	}
	t.Setenv("VAYU_ENCRYPTION_KEY", keys[0])
	eachEncryptedStore(t, func(t *testing.T, c sqlstore.Config, secret string, flags []string) {
		rotate(t, "pass the new key too", flags)
		t.Setenv(settings.NewKeyVariable, keys[1])
		rotate(t, "set VAYU_ENCRYPTION_KEY to the new key", flags)
		rotate(t, "already, by a rotation before", flags)
		wantSecret(t, c, config.NewSecret(keys[1]), secret)
		if _, err := os.Stat(filepath.Join(c.Data, "encryption.key")); err == nil {
			t.Error("there is a key file")
		}
	})
}

func TestARotationNeedsAStore(t *testing.T) {
	t.Parallel()
	rotate(t, "there is no data directory", []string{"--data", filepath.Join(t.TempDir(), "none")})
	data, _ := newLedgerStore(t)
	rotate(t, "is held by pid", []string{"--data", data})
	rotate(t, "nothing is encrypted in this store yet", []string{"--data", t.TempDir()})
}
