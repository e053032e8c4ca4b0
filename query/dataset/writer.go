package dataset

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

// Writer writes records to a stream. It keeps at most one record in memory.
type Writer interface {
	Write(record arrow.Record) error
	// Close completes the stream. It does not close the stream itself.
	Close() error
}

// Format is a form of a file.
type Format struct {
	Name, MediaType string
	New             func(w io.Writer, schema *arrow.Schema) (Writer, error)
}

// Formats are all formats by name.
var Formats = map[string]Format{
	"parquet": {"parquet", "application/vnd.apache.parquet", newParquet},
	"arrow":   {"arrow", "application/vnd.apache.arrow.stream", newArrow},
	"csv":     {"csv", "text/csv; charset=utf-8", newCSV},
	"ndjson":  {"ndjson", "application/x-ndjson", newJSON},
}

// FormatNames returns the names of all formats.
func FormatNames() []string { return slices.Sorted(maps.Keys(Formats)) }

// newArrow writes the streaming format of Arrow IPC.
func newArrow(w io.Writer, schema *arrow.Schema) (Writer, error) {
	out := ipc.NewWriter(w, ipc.WithSchema(schema))
	return out, nil
}

// parquetWriter writes one row group per record.
type parquetWriter struct{ *pqarrow.FileWriter }

// newParquet writes Parquet with zstd, the compression that DuckDB, polars, pandas, R and ClickHouse all read. Texts
// repeat, so they have dictionaries. Measured values do not.
func newParquet(w io.Writer, schema *arrow.Schema) (Writer, error) {
	options := []parquet.WriterProperty{
		parquet.WithCompression(compress.Codecs.Zstd), parquet.WithCompressionLevel(1), parquet.WithMaxRowGroupLength(batchRows),
		parquet.WithVersion(parquet.V2_LATEST), parquet.WithDictionaryDefault(false), parquet.WithCreatedBy("vayu"),
	}
	for _, f := range schema.Fields() {
		switch f.Type.ID() {
		case arrow.STRING:
			options = append(options, parquet.WithDictionaryFor(f.Name, true))
		case arrow.LIST:
			options = append(options, parquet.WithDictionaryFor(f.Name+".list.element", true))
		}
	}
	out, err := pqarrow.NewFileWriter(schema, onlyWriter{w}, parquet.NewWriterProperties(options...), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		return nil, fmt.Errorf("writing Parquet: %w", err)
	}
	return parquetWriter{out}, nil
}

// onlyWriter hides other methods of a writer: closing the Parquet writer must not close the file below it.
type onlyWriter struct{ io.Writer }
