package dataset

import (
	"bytes"
	"fmt"

	chproto "github.com/ClickHouse/ch-go/proto"
	"github.com/apache/arrow/go/v15/arrow"
)

// DecodeBlocks decodes a stream as the columns of readings, and builds records of them.
func DecodeBlocks(data []byte) error {
	columns := sampleColumns()
	in := newBlock(columns)
	out := newBatch(Schema(columns, nil), in, func(r arrow.Record) error { r.Release(); return nil })
	defer out.release()
	reader := chproto.NewReader(bytes.NewReader(data))
	for {
		if err := in.decode(reader); err != nil {
			return err
		}
		if err := out.add(in); err != nil {
			return err
		}
	}
}

func sampleColumns() []Column {
	var columns []Column
	for i, kind := range []string{"LowCardinality(String)", "DateTime('UTC')", "Float64", "Enum8('a' = 1, 'b' = 2)", "Nullable(UInt16)", "Array(String)", "Array(Float64)", "Date", "DateTime64(3, 'UTC')", "String"} {
		c := Column{Name: fmt.Sprint(i), Type: kind}
		c.choose()
		columns = append(columns, c)
	}
	return columns
}
