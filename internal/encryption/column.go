package encryption

// Column is a column whose values are sealed. Whoever owns the table seals and
// opens through it, and a rotation of the key goes through the same one, so that
// neither can know another place of a value.
type Column struct {
	Table string
	Name  string // a BYTEA; NULL and an empty value are nothing sealed
	// Key is the table's primary key: names of TEXT columns, and others cast to TEXT.
	Key []string
	// About is the place of the value in the row with this key, in the order of
	// Key. No two rows, and no columns whose values are not interchangeable, have
	// the same one.
	About func(key ...string) string
}

// Seal encrypts plain for the row with this key.
func (c Column) Seal(b *Box, plain []byte, key ...string) []byte {
	return b.Seal(plain, c.About(key...))
}

// Open decrypts the value of the row with this key. The error is one of ErrForm,
// ErrKey and ErrSeal.
func (c Column) Open(b *Box, sealed []byte, key ...string) ([]byte, error) {
	return b.Open(sealed, c.About(key...))
}
