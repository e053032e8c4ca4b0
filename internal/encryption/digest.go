package encryption

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
)

// digestName is the row of table setting with the digest key: 32 random bytes, encrypted, in
// base64. It never changes, because the data of existing digests is not stored.
const digestName = "digest_key"

const digestKeyPlace = "setting.value:" + digestName

// Digest returns a keyed hash of data, HMAC-SHA256 (32 bytes), to recognize repeated data that is
// not stored. The key belongs to the store and survives rotations. An unkeyed hash of all account
// numbers could be computed in an hour. The purpose separates the digests of different uses. ("a",
// "bc") and ("ab", "c") differ.
//
// It panics before Claim.
func (b *Cipher) Digest(purpose string, data ...[]byte) []byte {
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

// encryptDigestKey returns the digest key in stored form.
func (b *Cipher) encryptDigestKey(key []byte) string {
	return base64.StdEncoding.EncodeToString(b.Encrypt(key, digestKeyPlace))
}

// decryptDigestKey parses the output of encryptDigestKey.
func (b *Cipher) decryptDigestKey(text string) ([]byte, error) {
	encrypted, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		err = ErrFormat
	} else if key, failed := b.Decrypt(encrypted, digestKeyPlace); failed == nil {
		return key, nil
	} else {
		err = failed
	}
	return nil, fmt.Errorf("table setting, row %q: %w", digestName, err)
}
