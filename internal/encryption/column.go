package encryption

// Column is a column of encrypted values. The owner of the table and the key rotation use the same
// Column, so that they agree on the associated data.
type Column struct {
	Table string
	Name  string // a BYTEA; NULL and empty values are not encrypted
	// Key is the table's primary key: names of TEXT columns, and others cast to TEXT.
	Key []string
	// AssociatedData returns the associated data of the row with this key, in the order of Key. It
	// differs for all rows, and for all columns whose values are not interchangeable.
	AssociatedData func(key ...string) string
}

// Encrypt encrypts plain for the row with this key.
func (c Column) Encrypt(b *Cipher, plain []byte, key ...string) []byte {
	return b.Encrypt(plain, c.AssociatedData(key...))
}

// Decrypt decrypts the value of the row with this key. The error is ErrFormat, ErrWrongKey or
// ErrCorrupt.
func (c Column) Decrypt(b *Cipher, encrypted []byte, key ...string) ([]byte, error) {
	return b.Decrypt(encrypted, c.AssociatedData(key...))
}
