package encryption

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
)

// digestName is the name of the row in the table "setting" that has the digest key: 32 random bytes, encrypted, in
// base64. The key never changes: the store lacks the digested data, so new digests could not be computed.
const digestName = "digest_key"

const digestKeyPlace = "setting.value:" + digestName

// Digest returns a keyed hash of data, HMAC-SHA256 (32 bytes). It recognizes repeated data without storing the data.
// The HMAC key belongs to the store, and a rotation does not change it. If the hash had no key, a thief of the store
// could hash all possible account numbers in an hour and compare. Different purposes yield different digests of the
// same data. So do different splits of the same bytes, such as ("a", "bc") and ("ab", "c").
//
// Digest panics if Claim was not called.
func (b *Cipher) Digest(purpose string, data ...[]byte) []byte {
	if b.digestKey == nil {
		panic("encryption: Digest is called before Claim")
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

// encryptDigestKey encrypts the digest key. The result is in base64, for the table "setting".
func (b *Cipher) encryptDigestKey(key []byte) string {
	return base64.StdEncoding.EncodeToString(b.Encrypt(key, digestKeyPlace))
}

// decryptDigestKey decrypts the output of encryptDigestKey.
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
