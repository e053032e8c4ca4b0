package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access"
	"vayu/internal/config"
	"vayu/internal/encryption"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// unencryptedColumns are the binary columns without secrets, or with a hash of one. A
// new binary column belongs here, or is encrypted and in encryptedColumns.
var unencryptedColumns = []string{
	"api_key.hash", "session.hash", "seen_signature.signature", "idempotent_reply.fingerprint", "audit.hash", "audit_head.hash", "audit_head.mac",
	"event.envelope", "attempt.body",
	"batch.fingerprint", "batch_item.refusal",
	"verification.digest", "verification.same", "recharge.number_digest",
}

// A rotation loses the values of an encrypted column that is missing in
// encryptedColumns.
func TestRotationCoversEncryptedColumns(t *testing.T) {
	t.Parallel()
	type column struct{ table, name string }
	view := sqlstoretest.SQLite(t).View(t.Context())
	there, err := sqlstore.All(view, func(row sqlstore.Scanner) (string, error) {
		var c column
		err := row.Scan(&c.table, &c.name)
		return c.table + "." + c.name, err
	}, "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' AND c.type NOT IN ('TEXT', 'BIGINT', 'INTEGER') AND m.name NOT LIKE 'goose%' AND m.name NOT LIKE 'sqlite%'")
	if err != nil {
		t.Fatal(err)
	}
	known, places := slices.Clone(unencryptedColumns), map[string]string{}
	for _, c := range encryptedColumns() {
		known = append(known, c.Table+"."+c.Name)
		key, err := sqlstore.All(view, func(row sqlstore.Scanner) (name string, err error) {
			err = row.Scan(&name)
			return name, err
		},
			"SELECT CASE type WHEN 'TEXT' THEN name ELSE 'CAST(' || name || ' AS TEXT)' END FROM pragma_table_info($1) WHERE pk > 0 ORDER BY pk", c.Table)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(key, c.Key); diff != "" {
			t.Errorf("the key of table %s: %s", c.Table, diff)
		}
		place := c.AssociatedData(key...)
		if table, taken := places[place]; taken && table != c.Table { // two columns of a row may have one
			t.Errorf("tables %s and %s have the same associated data prefix %q", table, c.Table, place)
		}
		places[place] = c.Table
	}
	slices.Sort(there)
	slices.Sort(known)
	if diff := cmp.Diff(there, known); diff != "" {
		t.Errorf("the schema has (-), and encryptedColumns and unencryptedColumns have (+): %s", diff)
	}
}

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
		path := filepath.Join(c.Data, encryptionKey)
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
			t.Errorf("with a running service it is rotated: %v", err)
		}
		stop()
		out := rotate(t, "1 of api_key.signing_secret\n", flags)
		for _, line := range []string{"0 of webhook.previous_secret\n", "0 of verification.private\n", "the encryption key is "} {
			if !strings.Contains(out, line) {
				t.Errorf("got %s, want %s", out, line)
			}
		}
		if now, err := os.ReadFile(path); err != nil || bytes.Equal(now, before) {
			t.Errorf("the key is the same, %v", err)
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
		t.Setenv(newKeyVariable, keys[1])
		rotate(t, "set VAYU_ENCRYPTION_KEY to the new key", flags)
		rotate(t, "already, by a rotation before", flags)
		wantSecret(t, c, config.NewSecret(keys[1]), secret)
		if _, err := os.Stat(filepath.Join(c.Data, encryptionKey)); err == nil {
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

func TestABackupHasTheKeyOfItsRows(t *testing.T) {
	t.Parallel()
	key := func(fill byte) []byte {
		return append(base64.StdEncoding.AppendEncode(nil, bytes.Repeat([]byte{fill}, 32)), '\n')
	}
	open := func(fill byte) *encryption.Cipher {
		box, err := encryption.Open(config.NewSecret(string(key(fill))), "")
		if err != nil {
			t.Fatal(err)
		}
		return box
	}
	owner, other := open(1).KeyID(), open(2).KeyID()
	for name, c := range map[string]struct {
		owner string
		files map[string][]byte
		where string
		want  string // in the error
	}{
		"nothing is sealed":      {"", nil, "", ""},
		"its key":                {owner, map[string][]byte{encryptionKey: key(1)}, keyInBackup, ""},
		"a rotation was killed":  {owner, map[string][]byte{encryptionKey: key(2), encryptionKey + ".next-" + owner: key(1)}, keyInBackup, ""},
		"a key of another store": {owner, map[string][]byte{encryptionKey: key(2)}, "", "encrypted with the key " + owner + ", and this instance has " + other},
		"the key is lost":        {owner, nil, "", "this instance has none"},
	} {
		cfg, dir := defaults(), t.TempDir()
		cfg.Data = t.TempDir()
		for file, text := range c.files {
			if err := os.WriteFile(filepath.Join(cfg.Data, file), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		apart, apartErr := backUpKey(newBackup(), cfg, dir, c.owner, false)
		if wantApart := strings.ReplaceAll(c.where, keyInBackup, keyApart); apart != wantApart || (apartErr == nil) != (c.want == "") {
			t.Errorf("%s: a backup in clear: got %q, %v, want %q", name, apart, apartErr, wantApart)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("%s: a backup in clear has %v, %v", name, entries, err)
		}
		where, err := backUpKey(newBackup(), cfg, dir, c.owner, true)
		if where != c.where || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %q, %v, want %q, %q", name, where, err, c.where, c.want)
		}
		copied, _ := os.ReadFile(filepath.Join(dir, encryptionKey))
		if (c.where == keyInBackup) != bytes.Equal(copied, key(1)) {
			t.Errorf("%s: the backup has the key %q", name, copied)
		}
	}
}
