package batch

import (
	"strconv"

	"vayu/internal/encryption"
)

// encryptedRecords is the column with the records of chunks. Records contain phone numbers and bank
// account numbers.
var encryptedRecords = encryption.Column{
	Table: "batch_chunk", Name: "records", Key: []string{"batch_id", "CAST(first AS TEXT)"},
	AssociatedData: func(key ...string) string { return "batch_chunk/" + key[0] + "/" + key[1] + "/records" },
}

// EncryptedColumns returns the columns of this package that a key rotation must re-encrypt.
func EncryptedColumns() []encryption.Column { return []encryption.Column{encryptedRecords} }

// encryptChunk encrypts the records of a chunk. first is the index of its first record.
func encryptChunk(box *encryption.Cipher, batch string, first int, records []byte) []byte {
	return encryptedRecords.Encrypt(box, records, batch, strconv.Itoa(first))
}

// decrypt decrypts the records in c.bytes.
func (c *chunk) decrypt(box *encryption.Cipher) (err error) {
	c.bytes, err = encryptedRecords.Decrypt(box, c.bytes, c.batch, strconv.Itoa(c.first))
	return err
}
