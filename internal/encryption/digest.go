package encryption

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
)

// digestName is the row of table setting that has the key of digests: 32 random
// bytes, sealed, in base64. It is made once and never changed, because a digest
// cannot be made again from what nobody keeps.
const digestName = "digest_key"

const aboutDigestKey = "setting.value:" + digestName

// Digest is a hash of data by which a repetition is recognised without keeping
// what repeats: HMAC-SHA256 (32 bytes) with a key of this store, which is the
// same after a rotation of the encryption key. Without it the digests of all
// account numbers would be made in an hour. Purpose keeps the digests of one use
// apart from those of all others. ("a", "bc") and ("ab", "c") differ.
//
// It panics before Claim.
func (b *Box) Digest(purpose string, data ...[]byte) []byte {
	if b.digestKey == nil {
		panic("seal: Digest is called before Claim")
	}
	mac := hmac.New(sha256.New, b.digestKey)
	part := func(of []byte) {
		_, _ = mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(of)))) // hashes never fail
		_, _ = mac.Write(of)
	}
	part([]byte(purpose))
	for _, of := range data {
		part(of)
	}
	return mac.Sum(nil)
}

// sealDigestKey is a key of digests in the form of the store.
func (b *Box) sealDigestKey(key []byte) string {
	return base64.StdEncoding.EncodeToString(b.Seal(key, aboutDigestKey))
}

// openDigestKey reads what sealDigestKey made.
func (b *Box) openDigestKey(text string) ([]byte, error) {
	sealed, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		err = ErrForm
	} else if key, failed := b.Open(sealed, aboutDigestKey); failed == nil {
		return key, nil
	} else {
		err = failed
	}
	return nil, fmt.Errorf("table setting, row %q: %w", digestName, err)
}
