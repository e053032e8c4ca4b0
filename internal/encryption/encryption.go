// Package encryption encrypts what must be read again and must not be readable in the
// store: secrets of signatures, replies that hold a key, account numbers whose
// verification is under way. It also makes the digests by which something is
// known again that is not kept.
//
// A store has one key at a time, and names it: Claim demands it, Rotate replaces
// it. Every sealed column is a Column.
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

// A sealed value is
//
//	version (1 byte), key id (4), nonce (24), ciphertext with its tag (16)
//
// and authenticates everything before the ciphertext, and what it is about.
//
// The nonce is random. With 12 bytes, as AES-256-GCM has, a key may draw 2³² of
// them (NIST SP 800-38D, 8.3): at a thousand stored replies a second that is
// seven weeks. With 24 two are equal after 2⁸⁰ with a chance of 2⁻³².
const (
	formVersion = 1
	idSize      = 4
	keySize     = chacha20poly1305.KeySize
	nonceSize   = chacha20poly1305.NonceSizeX
	headSize    = 1 + idSize + nonceSize
	tagSize     = chacha20poly1305.Overhead
)

// Reasons for which a value cannot be opened. Their texts say nothing of it.
var (
	// ErrForm is a value that was not made by Seal, or by a newer program.
	ErrForm = errors.New("the sealed value has an unknown form")
	// ErrKey is a value that another key has sealed.
	ErrKey = errors.New("the sealed value belongs to another encryption key")
	// ErrSeal is a value that was changed, or moved from another place.
	ErrSeal = errors.New("the sealed value is not what was sealed for this place")
)

// Box seals and opens texts with XChaCha20-Poly1305
// (datatracker.ietf.org/doc/html/draft-irtf-cfrg-xchacha). After Claim it can be
// used by many goroutines at once.
type Box struct {
	dir    string // of the key file; empty when the key is a setting
	id     [idSize]byte
	cipher cipher.AEAD // nil until Claim has made a key

	digestKey []byte // nil until Claim
	file      []byte // the key itself, while a rotation has to write it
}

// Open takes the key from the configuration (32 bytes, base64), or from the file
// encryption.key in dir. Without either the box has no key before Claim has made
// one: whether it may depends on the store.
func Open(key config.Secret, dir string) (*Box, error) {
	b := &Box{}
	if key.IsSet() {
		raw, err := parseKey(key.Reveal())
		if err != nil {
			return nil, fmt.Errorf("reading the setting encryption-key: %w", err)
		}
		if err := b.take(raw); err != nil {
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

// readFile takes the key from the data directory.
func (b *Box) readFile() error {
	raw, err := readKey(filepath.Join(b.dir, keyName))
	if err != nil {
		return fmt.Errorf("reading the encryption key: %w", err)
	}
	return b.take(raw)
}

// take makes key the box's own.
func (b *Box) take(key []byte) (err error) {
	b.id = idOf(key)
	b.cipher, err = chacha20poly1305.NewX(key)
	return err
}

// idOf is the id of a key.
func idOf(key []byte) [idSize]byte {
	sum := sha256.Sum256(key)
	return [idSize]byte(sum[:idSize])
}

// KeyID names the key without giving anything of it away: the first 4 bytes of
// its SHA-256 in hex.
func (b *Box) KeyID() string { return hex.EncodeToString(b.id[:]) }

// Seal encrypts plain. About is the place where the result is kept, such as
// "api_key.signing_secret:key_01…"; only there it can be opened.
func (b *Box) Seal(plain []byte, about string) []byte {
	sealed := make([]byte, headSize, headSize+len(plain)+tagSize)
	sealed[0] = formVersion
	copy(sealed[1:], b.id[:])
	nonce := sealed[1+idSize : headSize]
	_, _ = rand.Read(nonce) // never fails
	return b.cipher.Seal(sealed, nonce, plain, associated(sealed[:headSize], about))
}

// Open decrypts what Seal made for the same place. The error is one of ErrForm,
// ErrKey and ErrSeal.
func (b *Box) Open(sealed []byte, about string) ([]byte, error) {
	if len(sealed) < headSize+tagSize || sealed[0] != formVersion {
		return nil, ErrForm
	}
	if [idSize]byte(sealed[1:1+idSize]) != b.id {
		return nil, ErrKey
	}
	plain, err := b.cipher.Open(nil, sealed[1+idSize:headSize], sealed[headSize:], associated(sealed[:headSize], about))
	if err != nil {
		return nil, ErrSeal
	}
	return plain, nil
}

// associated is what is authenticated beside the text. The head has one length,
// so nothing can move between the two parts.
func associated(head []byte, about string) []byte {
	return append(append(make([]byte, 0, len(head)+len(about)), head...), about...)
}
