package dataset

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

// Writer writes records to a stream. It holds at most one record in memory.
type Writer interface {
	Write(record arrow.Record) error
	// Close writes the end of the format. It does not close the stream.
	Close() error
}

// Format is a file format of exports.
type Format struct {
	Name, MediaType string
	New             func(w io.Writer, schema *arrow.Schema) (Writer, error)
}

// Formats has all file formats, by name.
var Formats = map[string]Format{
	"parquet": {"parquet", "application/vnd.apache.parquet", newParquet},
	"arrow":   {"arrow", "application/vnd.apache.arrow.stream", newArrow},
	"csv":     {"csv", "text/csv; charset=utf-8", newCSV},
	"ndjson":  {"ndjson", "application/x-ndjson", newJSON},
}

// FormatNames returns the names of all file formats, sorted.
func FormatNames() []string { return slices.Sorted(maps.Keys(Formats)) }

// arrowWriter writes the streaming format of Arrow IPC. It writes string columns as plain strings. Dictionary encoding
// would change the dictionary between batches, which some readers do not support.
type arrowWriter struct {
	*ipc.Writer

	schema *arrow.Schema
}

func newArrow(w io.Writer, schema *arrow.Schema) (Writer, error) {
	schema = plainSchema(schema)
	return &arrowWriter{ipc.NewWriter(w, ipc.WithSchema(schema)), schema}, nil
}

// Write implements Writer.
func (a *arrowWriter) Write(record arrow.Record) error {
	columns := make([]arrow.Array, record.NumCols())
	for i, c := range record.Columns() {
		columns[i] = plain(c)
	}
	expanded := array.NewRecord(a.schema, columns, record.NumRows()) // it retains the columns
	for _, c := range columns {
		c.Release()
	}
	defer expanded.Release()
	return a.Writer.Write(expanded)
}

// parquetWriter writes Parquet. Each Arrow record becomes one row group.
type parquetWriter struct {
	*pqarrow.FileWriter

	out *faithful
}

// newParquet returns a writer of Parquet with zstd, which DuckDB, polars, pandas, R and ClickHouse can read. It
// stores texts as dictionaries, because they repeat, but measured values as they are. The embedded Arrow schema
// declares plain texts. Otherwise pandas would make all texts categories.
func newParquet(w io.Writer, schema *arrow.Schema) (Writer, error) {
	options := []parquet.WriterProperty{
		parquet.WithCompression(compress.Codecs.Zstd), parquet.WithCompressionLevel(1), parquet.WithMaxRowGroupLength(batchRows),
		parquet.WithVersion(parquet.V2_LATEST), parquet.WithDictionaryDefault(false), parquet.WithCreatedBy("vayu"),
	}
	for _, f := range schema.Fields() {
		switch f.Type.ID() {
		case arrow.DICTIONARY, arrow.STRING, arrow.TIMESTAMP, arrow.DATE32, arrow.UINT16, arrow.UINT64, arrow.UINT8:
			options = append(options, parquet.WithDictionaryFor(f.Name, true))
		}
	}
	shown := plainSchema(schema)
	meta := schema.Metadata()
	meta = arrow.NewMetadata(append(slices.Clone(meta.Keys()), "ARROW:schema"),
		append(slices.Clone(meta.Values()), base64.StdEncoding.EncodeToString(flight.SerializeSchema(shown, memory.DefaultAllocator))))
	out := &faithful{w: w}
	file, err := pqarrow.NewFileWriter(arrow.NewSchema(schema.Fields(), &meta), out, parquet.NewWriterProperties(options...), pqarrow.DefaultWriterProps())
	if err != nil {
		return nil, fmt.Errorf("writing Parquet: %w", err)
	}
	return &parquetWriter{file, out}, nil
}

// Write implements Writer.
func (p *parquetWriter) Write(record arrow.Record) error {
	return cmp.Or(p.out.err, p.FileWriter.Write(record), p.out.err)
}

// Close implements Writer.
func (p *parquetWriter) Close() error { return cmp.Or(p.FileWriter.Close(), p.out.err) }

// faithful keeps the first error of a writer, and drops later writes. The Parquet library ignores some write errors and
// panics on others. faithful has no method Close, because closing the Parquet writer must not close the file below it.
type faithful struct {
	w   io.Writer
	err error
}

// Write implements io.Writer. It never fails.
func (f *faithful) Write(p []byte) (n int, err error) {
	if f.err == nil {
		_, f.err = f.w.Write(p)
	}
	return len(p), nil
}
