package encryption

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"vayu/internal/config"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

func TestAStoreHasOneKey(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		ctx := context.Background()
		first, other := testBox(t, 1), testBox(t, 2)
		for range 2 {
			if err := first.Claim(ctx, db); err != nil {
				t.Error(err)
			}
		}
		err := other.Claim(ctx, db)
		if err == nil {
			t.Fatal("another key is taken")
		}
		for _, part := range []string{first.KeyID(), other.KeyID(), "encryption-key", keyName} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q does not name %q", err, part)
			}
		}
		if err := testBox(t, 1).Claim(ctx, db); err != nil {
			t.Error(err)
		}
	})
}

// keyless returns a cipher without a key.
func keyless(t *testing.T, dir string) *Cipher {
	t.Helper()
	b, err := Open(config.Secret{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTheKeyFileIsMadeOnceAndForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		dir := filepath.Join(t.TempDir(), "data")
		boxes := make([]*Cipher, 16)
		var all sync.WaitGroup
		for i := range boxes {
			boxes[i] = keyless(t, dir)
		}
		for _, b := range boxes {
			all.Go(func() {
				if err := b.Claim(context.Background(), db); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if t.Failed() {
			return
		}
		sealed := boxes[0].Encrypt([]byte("x"), place)
		for i, b := range slices.Concat(boxes, []*Cipher{keyless(t, dir)}) {
			if _, err := b.Decrypt(sealed, place); err != nil {
				t.Errorf("start %d has another key: %v", i, err)
			}
		}
		info, err := os.Stat(filepath.Join(dir, keyName))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		if names, _ := os.ReadDir(dir); len(names) != 1 {
			t.Errorf("%d files are left", len(names))
		}
	})
}

// A useless key file must not look like the right one.
func TestNoKeyIsMadeForAStoreThatHasOne(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		dirs := []string{t.TempDir(), t.TempDir(), t.TempDir()}
		failed := make([]error, len(dirs)+1) // for these, and for a later one
		var all sync.WaitGroup
		for i, dir := range dirs {
			b := keyless(t, dir)
			all.Go(func() { failed[i] = b.Claim(context.Background(), db) })
		}
		all.Wait()
		failed[len(dirs)] = keyless(t, t.TempDir()).Claim(context.Background(), db)
		made, refused := 0, 0
		for _, dir := range dirs {
			if _, err := os.Stat(filepath.Join(dir, keyName)); err == nil {
				made++
			}
		}
		for _, err := range failed {
			if err != nil && strings.Contains(err.Error(), "VAYU_ENCRYPTION_KEY") {
				refused++
			}
		}
		if made != 1 || refused != len(dirs) {
			t.Errorf("%d keys are left and %d boxes refused: %v", made, refused, failed)
		}
	})
}
