package encryption

// Column describes a column of encrypted values. The key rotation and the package of the table use the same
// Column, so that both use the same associated data.
type Column struct {
	Table string
	Name  string // a BYTEA column; NULL and empty values are not encrypted
	// Key holds the columns of the table's primary key, such as "id", or "CAST(first AS TEXT)" for an integer.
	Key []string
	// AssociatedData returns the associated data for the row with the primary key `key`, in the order of Key. The
	// result must differ between rows. It must also differ between columns whose values must not be
	// interchanged. Otherwise a moved value would decrypt without an error.
	AssociatedData func(key ...string) string
}

// Encrypt encrypts `plain`, the value of the row with the primary key `key`.
func (c Column) Encrypt(b *Cipher, plain []byte, key ...string) []byte {
	return b.Encrypt(plain, c.AssociatedData(key...))
}

// Decrypt decrypts the value of the row with the primary key `key`. The error is ErrFormat, ErrWrongKey or ErrCorrupt.
func (c Column) Decrypt(b *Cipher, encrypted []byte, key ...string) ([]byte, error) {
	return b.Decrypt(encrypted, c.AssociatedData(key...))
}
