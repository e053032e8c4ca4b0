package batch

import (
	"strconv"

	"vayu/internal/seal"
)

// sealedRecords are records that wait for their turn: numbers of telephones and of
// bank accounts, which nobody else is to read.
var sealedRecords = seal.Column{
	Table: "batch_chunk", Name: "records", Key: []string{"batch_id", "CAST(first AS TEXT)"},
	About: func(key ...string) string { return "batch_chunk/" + key[0] + "/" + key[1] + "/records" },
}

// Sealed are the columns that this package seals.
func Sealed() []seal.Column { return []seal.Column{sealedRecords} }

// sealChunk seals the records of a chunk.
func sealChunk(box *seal.Box, batch string, first int, records []byte) []byte {
	return sealedRecords.Seal(box, records, batch, strconv.Itoa(first))
}

// open opens the records of a chunk.
func (c *chunk) open(box *seal.Box) (err error) {
	c.bytes, err = sealedRecords.Open(box, c.bytes, c.batch, strconv.Itoa(c.first))
	return err
}
