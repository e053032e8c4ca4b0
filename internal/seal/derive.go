package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"fmt"
)

const (
	keySize   = 32
	nonceSize = 24
	halfNonce = 12
)

// deriver makes a key of its own for each value, from the secret key and the
// first half of a random 24-byte nonce, as XAES-256-GCM does
// (c2sp.org/XAES-256-GCM). AES-256-GCM alone has 12-byte nonces, of which a key
// may draw 2³² at random (NIST SP 800-38D, 8.3): at a thousand stored replies a
// second that is seven weeks. With 24 bytes it is 2⁸⁰.
type deriver struct {
	block cipher.Block
	k1    [aes.BlockSize]byte // CMAC's subkey
}

func newDeriver(key []byte) (*deriver, error) {
	if len(key) != keySize {
		return nil, fmt.Errorf("an encryption key has %d bytes, not %d", keySize, len(key))
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	d := &deriver{block: block}
	block.Encrypt(d.k1[:], d.k1[:])
	carry := d.k1[0] >> 7
	for i := range d.k1 {
		next := byte(0)
		if i+1 < len(d.k1) {
			next = d.k1[i+1] >> 7
		}
		d.k1[i] = d.k1[i]<<1 | next
	}
	d.k1[len(d.k1)-1] ^= carry * 0x87
	return d, nil
}

// derive returns the cipher of one nonce, and the part of the nonce that goes
// into it.
func (d *deriver) derive(nonce []byte) (gcm cipher.AEAD, rest []byte) {
	var key [keySize]byte
	for i := range 2 {
		half := key[i*aes.BlockSize:][:aes.BlockSize]
		copy(half, []byte{0, byte(i + 1), 'X', 0})
		copy(half[4:], nonce[:halfNonce])
		for j := range half {
			half[j] ^= d.k1[j]
		}
		d.block.Encrypt(half, half)
	}
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // 32 bytes are a key
	}
	if gcm, err = cipher.NewGCM(block); err != nil {
		panic(err) // AES has blocks of 16 bytes
	}
	return gcm, nonce[halfNonce:]
}
