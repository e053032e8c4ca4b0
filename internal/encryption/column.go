package encryption

// Column describes a column of encrypted values. The package that owns the table and the key rotation use the
// same Column, so that they agree on the associated data.
type Column struct {
	Table string
	Name  string // a BYTEA column; NULL and empty values are not encrypted
	// Key holds the columns of the table's primary key. Columns that are not TEXT are cast to TEXT.
	Key []string
	// AssociatedData returns the associated data of the row with this key, in the order of Key. It must differ
	// between rows, and between columns whose values must not be interchanged. Otherwise an encrypted value
	// could be moved unnoticed.
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
