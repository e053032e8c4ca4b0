package batch

import (
	"strconv"

	"vayu/internal/encryption"
)

// sealedRecords are records that wait for their turn: numbers of telephones and of
// bank accounts, which nobody else is to read.
var sealedRecords = encryption.Column{
	Table: "batch_chunk", Name: "records", Key: []string{"batch_id", "CAST(first AS TEXT)"},
	About: func(key ...string) string { return "batch_chunk/" + key[0] + "/" + key[1] + "/records" },
}

// Sealed are the columns that this package seals.
func Sealed() []encryption.Column { return []encryption.Column{sealedRecords} }

// sealChunk seals the records of a chunk.
func sealChunk(box *encryption.Box, batch string, first int, records []byte) []byte {
	return sealedRecords.Seal(box, records, batch, strconv.Itoa(first))
}

// open opens the records of a chunk.
func (c *chunk) open(box *encryption.Box) (err error) {
	c.bytes, err = sealedRecords.Open(box, c.bytes, c.batch, strconv.Itoa(c.first))
	return err
}
