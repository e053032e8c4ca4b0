package encryption

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/config"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// Two columns of the store, one with a three-part key.
var (
	testReply = Column{
		Table: "idempotent_reply", Name: "body", Key: []string{"account_id", "mode", "key"},
		AssociatedData: func(key ...string) string { return "reply:" + strings.Join(key, "/") },
	}
	testSecret = Column{
		Table: "api_key", Name: "signing_secret", Key: []string{"id"},
		AssociatedData: func(key ...string) string { return "secret:" + key[0] },
	}
	testColumns = []Column{testReply, testSecret}
)

const testReplies, testSecrets = 2*pageRows + 3, pageRows

// fill stores values of both columns, and rows without a value.
func fill(t *testing.T, db *sqlstore.DB, b *Cipher) {
	t.Helper()
	err := db.Update(context.Background(), func(tx *sqlstore.Tx) error {
		if _, err := tx.Exec("INSERT INTO account (id, name, plan, allow_list, created_at, revision) VALUES ('acc_1', 'a', 'free', '', 0, 1)"); err != nil {
			return err
		}
		for i := range testReplies + 1 {
			key, body := fmt.Sprintf("K %d/%d", i%7, i), []byte{}
			if i < testReplies {
				body = testReply.Encrypt(b, []byte(key), "acc_1", "live", key)
			}
			if _, err := tx.Exec(`INSERT INTO idempotent_reply (account_id, mode, key, fingerprint, status, body, expires_at)
				VALUES ('acc_1', 'live', $1, $2, 200, $3, 0)`, key, []byte{1}, body); err != nil {
				return err
			}
		}
		for i := range testSecrets + 1 {
			id, sealed := fmt.Sprintf("key_%03d", i), []byte(nil)
			if i < testSecrets {
				sealed = testSecret.Encrypt(b, []byte(id), id)
			}
			if _, err := tx.Exec(`INSERT INTO api_key (id, account_id, mode, name, hash, prefix, last_four, scopes, allow_list, require_signature, signing_secret, created_at, revision)
				VALUES ($1, 'acc_1', 'live', '', $2, '', '', '', '', 0, $3, 0, 1)`, id, []byte(id), sealed); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// wantWhole checks that a cipher decrypts every value.
func wantWhole(t *testing.T, db *sqlstore.DB, b *Cipher) {
	t.Helper()
	opened := 0
	for _, c := range testColumns {
		rows, err := sqlstore.All(db.View(context.Background()), c.scan,
			"SELECT "+strings.Join(c.Key, ", ")+", "+c.Name+" FROM "+c.Table+" WHERE length("+c.Name+") > 0")
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if plain, err := c.Decrypt(b, row.value, row.key...); err != nil || string(plain) != row.key[len(row.key)-1] {
				t.Fatalf("%s %v: %q, %v", c.Table, row.key, plain, err)
			}
			opened++
		}
	}
	if opened != testReplies+testSecrets {
		t.Errorf("%d values are there, want %d", opened, testReplies+testSecrets)
	}
}

// wantOneKey checks that encryption.key is the only key file in a directory.
func wantOneKey(t *testing.T, dir string) {
	t.Helper()
	if left, _ := filepath.Glob(filepath.Join(dir, "*key*")); len(left) != 1 || filepath.Base(left[0]) != keyName {
		t.Errorf("the directory has %q", left)
	}
}

func mustClaim(t *testing.T, db *sqlstore.DB, key config.Secret, dir string) *Cipher {
	t.Helper()
	b, err := Open(key, dir)
	if err == nil {
		err = b.Claim(context.Background(), db)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRotationReencryptsEverything(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		dir := t.TempDir()
		old := mustClaim(t, db, config.Secret{}, dir)
		fill(t, db, old)
		digest := old.Digest("account", []byte("1"))
		for range 2 {
			before, err := Open(config.Secret{}, dir)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Rotate(t.Context(), db, Rotation{Dir: dir, Columns: testColumns})
			if err != nil {
				t.Fatal(err)
			}
			b := mustClaim(t, db, config.Secret{}, dir)
			want := RotationResult{From: before.KeyID(), To: b.KeyID(), Reencrypted: []ReencryptedColumn{
				{"idempotent_reply", "body", testReplies}, {"api_key", "signing_secret", testSecrets},
			}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if got.From == got.To {
				t.Errorf("the new key is the old one, %s", got.To)
			}
			wantWhole(t, db, b)
			wantOneKey(t, dir)
			if again := b.Digest("account", []byte("1")); !bytes.Equal(again, digest) {
				t.Errorf("the digest is %x and was %x", again, digest)
			}
			if _, err := b.Decrypt(before.Encrypt([]byte("cursor"), place), place); !errors.Is(err, ErrWrongKey) {
				t.Errorf("what the old key has sealed elsewhere: %v", err)
			}
			if err := db.Update(t.Context(), before.Confirm); err == nil || !strings.Contains(err.Error(), b.KeyID()) {
				t.Errorf("who has the old key goes on: %v", err)
			}
			if info, err := os.Stat(filepath.Join(dir, keyName)); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
		}
	})
}

func TestUndecryptableValueStopsRotation(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		dir := t.TempDir()
		b := mustClaim(t, db, config.Secret{}, dir)
		fill(t, db, b)
		const last = "UPDATE api_key SET signing_secret = $1 WHERE id = 'key_063'"
		for name, bad := range map[string][]byte{
			"no sealed value": []byte("x"),
			"of another key":  testSecret.Encrypt(testBox(t, 9), []byte("key_063"), "key_063"),
			"of another row":  testSecret.Encrypt(b, []byte("key_063"), "key_062"),
		} {
			sqlstoretest.Exec(t, db, last, bad)
			_, err := Rotate(t.Context(), db, Rotation{Dir: dir, Columns: testColumns})
			if err == nil || !strings.Contains(err.Error(), `table "api_key", row "key_063", column "signing_secret"`) {
				t.Errorf("%s: %v", name, err)
			}
			sqlstoretest.Exec(t, db, last, testSecret.Encrypt(b, []byte("key_063"), "key_063"))
			wantWhole(t, db, mustClaim(t, db, config.Secret{}, dir))
			wantWhole(t, db, b)
			wantOneKey(t, dir)
		}
	})
}

func TestRotationOfASettingNeedsNewKey(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		key := func(fill byte) config.Secret {
			return config.NewSecret(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{fill}, keySize)))
		}
		rotate := func(key, next config.Secret) (RotationResult, error) {
			return Rotate(t.Context(), db, Rotation{Key: key, Next: next, Columns: testColumns})
		}
		if _, err := rotate(key(1), key(2)); err == nil || !strings.Contains(err.Error(), "nothing is encrypted") {
			t.Errorf("a store without a key: %v", err)
		}
		fill(t, db, mustClaim(t, db, key(1), ""))
		for name, c := range map[string]struct {
			key, next config.Secret
			want      string
		}{
			"no new key":     {key(1), config.Secret{}, "pass the new key too"},
			"the same key":   {key(1), key(1), "is the present key of the store"},
			"another key":    {key(3), key(2), "encrypted with the key " + testBox(t, 1).KeyID()},
			"no key at all":  {key(1), config.NewSecret("x"), "base64"},
			"a file instead": {config.Secret{}, key(2), "encryption.key"},
		} {
			t.Run(name, func(t *testing.T) {
				if _, err := rotate(c.key, c.next); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %q", err, c.want)
				}
			})
		}
		for _, again := range []bool{false, true} {
			if got, err := rotate(key(1), key(2)); err != nil || got.AlreadyRotated != again || got.To != testBox(t, 2).KeyID() {
				t.Errorf("got %+v, %v, want again = %v", got, err, again)
			}
		}
		wantWhole(t, db, mustClaim(t, db, key(2), ""))
	})
}

func TestConcurrentRotationsRunOnce(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		dirs := [2]string{t.TempDir(), t.TempDir()}
		fill(t, db, mustClaim(t, db, config.Secret{}, dirs[0]))
		text, err := os.ReadFile(filepath.Join(dirs[0], keyName))
		if err == nil {
			err = os.WriteFile(filepath.Join(dirs[1], keyName), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		var failed [2]error
		var both sync.WaitGroup
		for i, dir := range dirs {
			both.Go(func() {
				_, failed[i] = Rotate(context.Background(), db, Rotation{Dir: dir, Columns: testColumns})
			})
		}
		both.Wait()
		winner := 0
		if failed[0] != nil {
			winner = 1
		}
		if failed[winner] != nil || failed[1-winner] == nil {
			t.Fatalf("got %v", failed)
		}
		wantWhole(t, db, mustClaim(t, db, config.Secret{}, dirs[winner]))
		wantOneKey(t, dirs[0])
		wantOneKey(t, dirs[1])
	})
}

func TestRotationNeedsExclusiveStore(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		dir, company := t.TempDir(), errors.New("company")
		b := mustClaim(t, db, config.Secret{}, dir)
		fill(t, db, b)
		_, err := Rotate(t.Context(), db, Rotation{Dir: dir, Columns: testColumns, CheckExclusive: func(*sqlstore.Tx) error { return company }})
		if !errors.Is(err, company) {
			t.Errorf("got %v", err)
		}
		wantWhole(t, db, b)
		wantOneKey(t, dir)
	})
}

// The name of a key file comes from the store, but its content may not.
func TestOnlyTheKeyThatTheStoreNamesIsTaken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := keyless(t, dir)
	for owner, text := range map[string]string{"../../x": "", "72cd6e84": "another encryption key", "00000001": "damaged"} {
		path := filepath.Join(dir, nextName(owner))
		switch text {
		case "damaged":
			if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		case "":
		default:
			if err := writeKey(newKey(), path); err != nil {
				t.Fatal(err)
			}
		}
		err := b.adopt(owner)
		if text == "" && err != nil || text != "" && (err == nil || !strings.Contains(err.Error(), text)) {
			t.Errorf("%s: got %v, want %q", owner, err, text)
		}
		if _, err := os.Stat(filepath.Join(dir, keyName)); err == nil {
			t.Errorf("%s: it has become the key", owner)
		}
	}
}
