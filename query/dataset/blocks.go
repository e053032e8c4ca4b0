package dataset

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	chproto "github.com/ClickHouse/ch-go/proto"
	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
)

// Blocks runs queries and returns their results in one of ClickHouse's formats.
type Blocks interface {
	QueryFormat(ctx context.Context, format, query string, args ...any) (io.ReadCloser, error)
}

// blockRows is the number of rows in a block if the driver returns single rows. It is the block size of ClickHouse.
const blockRows = 65_409

// block has the part of a result that is in memory. The next part of the result overwrites it.
type block struct {
	columns []values
	rows    int
}

func newBlock(columns []Column) *block {
	b := &block{columns: make([]values, len(columns))}
	for i := range columns {
		b.columns[i] = columns[i].wire(columns[i].Type)
	}
	return b
}

// each runs a query and calls `take` for each block of the result. The block is valid only during the call.
func (b *block) each(ctx context.Context, conn Conn, take func(*block) error, query string, args ...any) error {
	stream, err := conn.QueryFormat(ctx, "Native", query, args...)
	if errors.Is(err, clickhouse.ErrFormatNativeUnsupported) { // the native protocol: the driver yields rows
		return b.eachRow(ctx, conn, take, query, args...)
	}
	if err != nil {
		return err
	}
	defer func() { _ = stream.Close() }()
	buffer := bufio.NewReaderSize(stream, 1<<20) // chproto uses this buffer, so that Peek sees the next block
	in := chproto.NewReader(buffer)
	for {
		if _, err := buffer.Peek(1); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := b.decode(in); err != nil {
			return err
		}
		if err := take(b); err != nil {
			return err
		}
	}
}

// decode reads one block in ClickHouse's Native format without BlockInfo.
func (b *block) decode(in *chproto.Reader) error {
	results := make(chproto.Results, len(b.columns))
	for i, c := range b.columns {
		results[i].Data = c.result()
	}
	var head chproto.Block
	if err := head.DecodeRawBlock(in, 0, results); err != nil {
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("the result ends within a block: %w", io.ErrUnexpectedEOF)
		}
		return err
	}
	b.rows = head.Rows
	return nil
}

func (b *block) eachRow(ctx context.Context, conn Conn, take func(*block) error, query string, args ...any) error {
	rows, err := conn.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	dest := make([]any, len(b.columns))
	for i, c := range b.columns {
		dest[i] = c.dest()
	}
	b.reset()
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		for _, c := range b.columns {
			c.take()
		}
		if b.rows++; b.rows == blockRows {
			if err := take(b); err != nil {
				return err
			}
			b.reset()
		}
	}
	if err := rows.Err(); err != nil || b.rows == 0 {
		return err
	}
	return take(b)
}

func (b *block) reset() {
	b.rows = 0
	for _, c := range b.columns {
		c.result().Reset()
	}
}
