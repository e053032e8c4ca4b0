package backup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"

	chproto "github.com/ClickHouse/ch-go/proto"
	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/ClickHouse/clickhouse-go/v2/lib/proto"

	"vayu/internal/columnstore"
)

// blockRows is the maximum number of rows of a block in memory, equal to ClickHouse's block size. A block of the
// widest table needs 10 MB.
const blockRows = 65_409

// blockReader reads blocks in ClickHouse's Native format. The blocks have no BlockInfo, as in files and over HTTP.
type blockReader struct {
	buffer *bufio.Reader
	reader *chproto.Reader
}

func newBlockReader(r io.Reader) *blockReader {
	buffer := bufio.NewReaderSize(r, 1<<20) // chproto uses this buffer, so that Peek sees the next block
	return &blockReader{buffer, chproto.NewReader(buffer)}
}

// next returns the next block. The error is io.EOF only if there are no more blocks.
func (b *blockReader) next() (*proto.Block, error) {
	if _, err := b.buffer.Peek(1); err != nil {
		return nil, err
	}
	block := proto.NewBlock()
	err := block.Decode(b.reader, 0)
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("the data end within a block: %w", io.ErrUnexpectedEOF)
	}
	return block, err
}

// selectBlocks runs a query and calls `take` with each block of the result. `take` must not retain the block. Over the
// native protocol, unlike HTTP, clickhouse-go delivers only rows, so selectBlocks then calls selectRows.
func selectBlocks(ctx context.Context, conn driver.Conn, query string, take func(*proto.Block) error) error {
	stream, err := conn.QueryFormat(ctx, "Native", query)
	if errors.Is(err, clickhouse.ErrFormatNativeUnsupported) {
		return selectRows(ctx, conn, query, take)
	}
	if err != nil {
		return err
	}
	defer func() { _ = stream.Close() }()
	for blocks := newBlockReader(stream); ; {
		block, err := blocks.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = take(block)
		}
		if err != nil {
			return err
		}
	}
}

// selectRows does the same as [selectBlocks] over the native protocol. With it, clickhouse-go delivers only rows.
func selectRows(ctx context.Context, conn driver.Conn, query string, take func(*proto.Block) error) error {
	rows, err := conn.Query(ctx, query)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	block := proto.NewBlock()
	var pointers, values []any
	for _, c := range rows.ColumnTypes() {
		if err := block.AddColumn(c.Name(), column.Type(c.DatabaseTypeName())); err != nil {
			return err
		}
		pointers = append(pointers, reflect.New(c.ScanType()).Interface())
	}
	values = make([]any, len(pointers))
	for rows.Next() {
		if err := rows.Scan(pointers...); err != nil {
			return err
		}
		for i, p := range pointers {
			values[i] = reflect.ValueOf(p).Elem().Interface()
		}
		if err := block.Append(values...); err != nil {
			return err
		}
		if block.Rows() == blockRows {
			if err := take(block); err != nil {
				return err
			}
			block.Reset()
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return take(block)
}

// insertBlocks inserts the data of r, which is in Native format. `insert` is the text "INSERT INTO table (columns)".
func insertBlocks(ctx context.Context, conn driver.Conn, insert string, r io.Reader) error {
	buffer := bufio.NewReaderSize(r, 1<<20)
	err := conn.InsertFormat(columnstore.InsertContext(ctx, columnstore.NewToken()), "Native", insert, buffer)
	if errors.Is(err, clickhouse.ErrFormatNativeUnsupported) {
		return insertRows(ctx, conn, insert, buffer)
	}
	return err
}

// batchBlocks is the number of blocks in one INSERT: a million rows, which ClickHouse stores as one part.
const batchBlocks = 16

// insertRows does the same as [insertBlocks] over the native protocol. With it, clickhouse-go accepts only rows.
func insertRows(ctx context.Context, conn driver.Conn, insert string, r io.Reader) error {
	blocks := newBlockReader(r)
	for {
		over, err := insertBatch(ctx, conn, insert, blocks)
		if over || err != nil {
			return err
		}
	}
}

// insertBatch runs one INSERT with the next batchBlocks blocks. The result `over` is true if no blocks are left.
func insertBatch(ctx context.Context, conn driver.Conn, insert string, blocks *blockReader) (over bool, err error) {
	batch, err := conn.PrepareBatch(columnstore.InsertContext(ctx, columnstore.NewToken()), insert)
	if err != nil {
		return false, err
	}
	defer func() { _ = batch.Close() }()
	if over, err = fill(batch, blocks); err != nil {
		return false, err
	}
	return over, batch.Send()
}

// fill appends the rows of the next batchBlocks blocks to `batch`. The result `over` is true if no blocks are left.
func fill(batch driver.Batch, blocks *blockReader) (over bool, err error) {
	for range batchBlocks {
		block, err := blocks.next()
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		values := make([]any, len(block.Columns))
		for row := range block.Rows() {
			for i, c := range block.Columns {
				values[i] = c.Row(row, false)
			}
			if err := batch.Append(values...); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}
