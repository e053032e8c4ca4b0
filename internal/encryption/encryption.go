// Package encryption encrypts stored values that only the service may read. Examples are signing secrets,
// replies that contain a key, and account numbers of pending verifications. It also computes keyed digests,
// which recognize values that are not stored.
//
// A store has one key at a time and records its id. Claim compares that id with the id of the cipher's key, and
// Rotate replaces the key. Every encrypted column is described by a Column.
package encryption

import (
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/crypto/chacha20poly1305"

	"vayu/internal/config"
)

// An encrypted value is
//
//	version (1 byte), key id (4), nonce (24), ciphertext with its tag (16)
//
// The tag authenticates the ciphertext, everything before it, and the associated data: the table, column and row of the
// value.
//
// The nonce is random, and must be unique per key. With a nonce of 12 bytes, as in AES-256-GCM, a key may encrypt only
// 2³² values (NIST SP 800-38D, 8.3). At a thousand stored replies per second, that number is reached in seven weeks.
// With a nonce of 24 bytes, the chance of a collision after 2⁸⁰ values is below 2⁻³².
const (
	formVersion = 1
	idSize      = 4
	keySize     = chacha20poly1305.KeySize
	nonceSize   = chacha20poly1305.NonceSizeX
	headSize    = 1 + idSize + nonceSize
	tagSize     = chacha20poly1305.Overhead
)

// Reasons why a value cannot be decrypted. Their texts reveal nothing about the value.
var (
	// ErrFormat is the error for a value that Encrypt did not produce, or that a newer program produced.
	ErrFormat = errors.New("the encrypted value has an unknown format")
	// ErrWrongKey means that a value was encrypted with a different key.
	ErrWrongKey = errors.New("the value was encrypted with another key")
	// ErrCorrupt is the error for a value that was changed, or moved from another row or column.
	ErrCorrupt = errors.New("the encrypted value was changed, or belongs to another row or column")
)

// Cipher encrypts and decrypts values with XChaCha20-Poly1305 (datatracker.ietf.org/doc/html/draft-irtf-cfrg-xchacha).
// After Claim it is safe for concurrent use.
type Cipher struct {
	dir    string // directory of the key file; empty if the key is a setting
	id     [idSize]byte
	cipher cipher.AEAD // nil if there is no key yet; Claim makes one

	digestKey []byte // key of Digest; nil until Claim
	file      []byte // new key of a rotation, if it belongs in a file; else nil
}

// Open returns a cipher with the key from the configuration (32 bytes, base64). If key is empty, Open reads the
// file encryption.key in dir. Without either, the cipher has no key until Claim.
func Open(key config.Secret, dir string) (*Cipher, error) {
	b := &Cipher{}
	if key.IsSet() {
		raw, err := parseKey(key.Reveal())
		if err != nil {
			return nil, fmt.Errorf("reading the setting encryption-key: %w", err)
		}
		if err := b.setKey(raw); err != nil {
			return nil, err
		}
		return b, nil
	}
	b.dir = dir
	if err := b.readFile(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return b, nil
}

func (b *Cipher) readFile() error {
	raw, err := readKey(filepath.Join(b.dir, keyName))
	if err != nil {
		return fmt.Errorf("reading the encryption key: %w", err)
	}
	return b.setKey(raw)
}

// setKey makes the cipher use a key, and derives the key's id.
func (b *Cipher) setKey(key []byte) (err error) {
	b.id = idOf(key)
	b.cipher, err = chacha20poly1305.NewX(key)
	return err
}

// idOf returns the first 4 bytes of a key's SHA-256, which identify the key.
func idOf(key []byte) [idSize]byte {
	sum := sha256.Sum256(key)
	return [idSize]byte(sum[:idSize])
}

// KeyID returns the id of the cipher's key: the first 4 bytes of its SHA-256, in hex. The id does not reveal the key.
func (b *Cipher) KeyID() string { return hex.EncodeToString(b.id[:]) }

// Encrypt encrypts `plain`. The parameter `associatedData` names where the result is stored, such as
// "api_key.signing_secret:key_01…". Decrypt needs the same associated data.
func (b *Cipher) Encrypt(plain []byte, associatedData string) []byte {
	encrypted := make([]byte, headSize, headSize+len(plain)+tagSize)
	encrypted[0] = formVersion
	copy(encrypted[1:], b.id[:])
	nonce := encrypted[1+idSize : headSize]
	_, _ = rand.Read(nonce) // never fails
	return b.cipher.Seal(encrypted, nonce, plain, associated(encrypted[:headSize], associatedData))
}

// Decrypt decrypts the output of Encrypt for the same associated data. The error is ErrFormat,
// ErrWrongKey or ErrCorrupt.
func (b *Cipher) Decrypt(encrypted []byte, associatedData string) ([]byte, error) {
	if len(encrypted) < headSize+tagSize || encrypted[0] != formVersion {
		return nil, ErrFormat
	}
	if [idSize]byte(encrypted[1:1+idSize]) != b.id {
		return nil, ErrWrongKey
	}
	plain, err := b.cipher.Open(nil, encrypted[1+idSize:headSize], encrypted[headSize:], associated(encrypted[:headSize], associatedData))
	if err != nil {
		return nil, ErrCorrupt
	}
	return plain, nil
}

// associated returns the data that is authenticated but not encrypted: `head`, then `associatedData`. `head` has a
// fixed length, so the boundary between the two parts is unambiguous.
func associated(head []byte, associatedData string) []byte {
	return append(append(make([]byte, 0, len(head)+len(associatedData)), head...), associatedData...)
}
