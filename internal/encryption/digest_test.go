package encryption

import (
	"bytes"
	"context"
	"encoding/hex"
	"sync"
	"testing"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// claimed returns a cipher that has claimed a store.
func claimed(t *testing.T, db *sqlstore.DB, fill byte) *Cipher {
	t.Helper()
	b := testBox(t, fill)
	if err := b.Claim(context.Background(), db); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDigestsAreOfOneStoreAndOnePurpose(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		b, again, elsewhere := claimed(t, db, 1), claimed(t, db, 1), claimed(t, sqlstoretest.SQLite(t), 1)
		a, bc, ab, c := []byte("a"), []byte("bc"), []byte("ab"), []byte("c")
		want := b.Digest("account", a, bc)
		if len(want) != 32 || !bytes.Equal(again.Digest("account", a, bc), want) {
			t.Errorf("%x, and from another instance %x", want, again.Digest("account", a, bc))
		}
		for name, other := range map[string][]byte{
			"another purpose":      b.Digest("address", a, bc),
			"other parts":          b.Digest("account", ab, c),
			"one part":             b.Digest("account", []byte("abc")),
			"an empty part more":   b.Digest("account", a, bc, nil),
			"purpose and no parts": b.Digest("account"),
			"another store":        elsewhere.Digest("account", a, bc),
		} {
			if bytes.Equal(other, want) {
				t.Errorf("%s has the same digest", name)
			}
		}
	})
}

// Digests are compared with ones stored years ago. This one is HMAC-SHA256 over 8-byte lengths and
// parts, made with openssl.
func TestTheFormOfADigestStays(t *testing.T) {
	t.Parallel()
	b := &Cipher{digestKey: bytes.Repeat([]byte{7}, keySize)}
	const want = "3da83c8eaff2a9e77593d4539c52c0105e97e105f644f2894a0c2f5a5b4b63a1"
	if got := hex.EncodeToString(b.Digest("account", []byte("a"), []byte("bc"))); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestInstancesThatStartAtOnceAgreeOnDigests(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		digests := make([][]byte, 8)
		var all sync.WaitGroup
		for i := range digests {
			all.Go(func() {
				b := testBox(t, 1)
				if err := b.Claim(context.Background(), db); err != nil {
					t.Error(err)
					return
				}
				digests[i] = b.Digest("account", []byte("1"))
			})
		}
		all.Wait()
		for i, d := range digests {
			if !bytes.Equal(d, digests[0]) {
				t.Errorf("instance %d has %x, the first %x", i, d, digests[0])
			}
		}
	})
}

// A digest without a key would look valid, and could be guessed.
func TestThereIsNoDigestBeforeClaim(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("there is one")
		}
	}()
	testBox(t, 1).Digest("account", []byte("1"))
}

func TestInvalidDigestKeyFailsClaim(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		claimed(t, db, 1)
		for _, value := range []string{"", "not base64", "AAAA"} {
			sqlstoretest.Exec(t, db, "UPDATE setting SET value = $1 WHERE name = $2", value, digestName)
			if err := testBox(t, 1).Claim(context.Background(), db); err == nil {
				t.Errorf("%q is taken", value)
			}
		}
	})
}
