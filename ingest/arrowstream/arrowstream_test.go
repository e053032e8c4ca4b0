package arrowstream_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"vayu/ingest/arrowstream"
)

// names are the wanted columns of the tests.
var names = []string{"station", "parameter", "value", "unit", "at", "averaging_minutes", "name"}

// mostRows is more than the tests need. A stream without content can claim 2^31 rows.
const mostRows = 200_000

// rowsOf reads the first rows of a stream.
func rowsOf(stream []byte) (rows [][]any, err error) {
	err = arrowstream.Read(stream, names, func(b *arrowstream.Batch) error {
		for i := range min(b.Rows(), mostRows-len(rows)) {
			row := make([]any, len(names))
			for n, name := range names {
				row[n] = b.Value(name, i)
			}
			rows = append(rows, row)
		}
		return nil
	})
	return rows, err
}

// files returns the streams that table libraries have written.
func files(tb testing.TB) map[string][]byte {
	tb.Helper()
	paths, err := filepath.Glob("testdata/*.arrow")
	if err != nil || len(paths) == 0 {
		tb.Fatal(paths, err)
	}
	found := make(map[string][]byte)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		found[strings.TrimSuffix(filepath.Base(path), ".arrow")] = text
	}
	return found
}

// number makes numbers of either type comparable.
func number(v any) any {
	if n, ok := v.(int64); ok {
		return float64(n)
	}
	return v
}

// Streams of pyarrow, pandas, polars and DuckDB have the same rows.
func TestStreamsOfTableLibraries(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC)
	want := [][]any{
		{"roof-1", "pm25", 61.5, "ug/m3", at, 15.0, nil},
		{"roof-1", "pm10", nil, "ug/m3", at.Add(15 * time.Minute), 15.0, nil},
		{"a-station-with-a-long-name", "pm25", 12.25, "µg/m³", at.Add(30 * time.Minute), nil, nil},
	}
	for name, stream := range files(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := rowsOf(stream)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range got {
				row[5] = number(row[5])
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

// written returns the stream of a record.
func written(tb testing.TB, fields []arrow.Field, fill func(*array.RecordBuilder), options ...ipc.Option) []byte {
	tb.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	fill(b)
	record := b.NewRecord()
	defer record.Release()
	var out bytes.Buffer
	w := ipc.NewWriter(&out, append(options, ipc.WithSchema(record.Schema()))...)
	if err := w.Write(record); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func TestNumbersOfEveryType(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		as   arrow.DataType
		fill func(array.Builder)
		want any
	}{
		{arrow.PrimitiveTypes.Int8, func(b array.Builder) { b.(*array.Int8Builder).Append(-3) }, int64(-3)},
		{arrow.PrimitiveTypes.Int16, func(b array.Builder) { b.(*array.Int16Builder).Append(-300) }, int64(-300)},
		{arrow.PrimitiveTypes.Int32, func(b array.Builder) { b.(*array.Int32Builder).Append(-70000) }, int64(-70000)},
		{arrow.PrimitiveTypes.Int64, func(b array.Builder) { b.(*array.Int64Builder).Append(-1 << 40) }, int64(-1 << 40)},
		{arrow.PrimitiveTypes.Uint8, func(b array.Builder) { b.(*array.Uint8Builder).Append(253) }, int64(253)},
		{arrow.PrimitiveTypes.Uint16, func(b array.Builder) { b.(*array.Uint16Builder).Append(65000) }, int64(65000)},
		{arrow.PrimitiveTypes.Uint32, func(b array.Builder) { b.(*array.Uint32Builder).Append(4e9) }, int64(4e9)},
		{arrow.PrimitiveTypes.Uint64, func(b array.Builder) { b.(*array.Uint64Builder).Append(1 << 63) }, float64(1 << 63)},
		{arrow.PrimitiveTypes.Float32, func(b array.Builder) { b.(*array.Float32Builder).Append(0.5) }, 0.5},
		{arrow.PrimitiveTypes.Float64, func(b array.Builder) { b.(*array.Float64Builder).Append(61.5) }, 61.5},
		{&arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"}, func(b array.Builder) { b.(*array.TimestampBuilder).Append(1) }, time.Unix(1, 0).UTC()},
		{&arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}, func(b array.Builder) { b.(*array.TimestampBuilder).Append(1) }, time.UnixMilli(1).UTC()},
		{&arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}, func(b array.Builder) { b.(*array.TimestampBuilder).Append(1) }, time.Unix(0, 1).UTC()},
		{&arrow.TimestampType{Unit: arrow.Second}, func(b array.Builder) { b.(*array.TimestampBuilder).Append(1) }, arrowstream.Local{}},
		{arrow.FixedWidthTypes.Boolean, func(b array.Builder) { b.(*array.BooleanBuilder).Append(true) }, arrowstream.Unreadable{}},
		{arrow.BinaryTypes.String, func(b array.Builder) { b.(*array.StringBuilder).Append("é") }, "é"},
		{arrow.BinaryTypes.String, func(b array.Builder) { b.(*array.StringBuilder).Append("\xff") }, arrowstream.Unreadable{}},
	} {
		t.Run(c.as.String(), func(t *testing.T) {
			t.Parallel()
			stream := written(t, []arrow.Field{{Name: "value", Type: c.as, Nullable: true}}, func(b *array.RecordBuilder) {
				c.fill(b.Field(0))
				b.Field(0).AppendNull()
			})
			got, err := rowsOf(stream)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]any{c.want, nil}, []any{got[0][2], got[1][2]}); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
		})
	}
}

// A column that is not wanted needs no supported content, but it must be flat.
func TestRefusedStreams(t *testing.T) {
	t.Parallel()
	list := written(t, []arrow.Field{{Name: "tags", Type: arrow.ListOf(arrow.PrimitiveTypes.Int8)}}, func(b *array.RecordBuilder) {
		b.Field(0).(*array.ListBuilder).Append(true)
	})
	numbers := written(t, []arrow.Field{{Name: "station", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Int64}}}, func(b *array.RecordBuilder) {
		_ = b.Field(0).(*array.Int64DictionaryBuilder).Append(1)
	})
	twice := written(t, []arrow.Field{{Name: "value", Type: arrow.PrimitiveTypes.Int8}, {Name: "value", Type: arrow.PrimitiveTypes.Int8}}, func(b *array.RecordBuilder) {
		b.Field(0).(*array.Int8Builder).Append(1)
		b.Field(1).(*array.Int8Builder).Append(1)
	})
	good := files(t)["pyarrow"]
	for name, c := range map[string]struct {
		stream []byte
		column string
		want   string
	}{
		"nested column":       {list, "tags", "not supported"},
		"numbers by position": {numbers, "station", "must have texts"},
		"column twice":        {twice, "value", "occurs twice"},
		"file":                {[]byte("ARROW1\x00\x00"), "", "is an Arrow file"},
		"JSON":                {[]byte(`{"readings": []}`), "", "not an Arrow IPC stream"},
		"nothing":             {nil, "", "no schema"},
		"trailing bytes":      {append(bytes.Clone(good), 0), "", "follows the end"},
		"cut off":             {good[:len(good)/2], "", "cut off"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := rowsOf(c.stream)
			got, ok := errors.AsType[*arrowstream.Error](err)
			if !ok {
				t.Fatalf("got error %v, want one of the type %T", err, got)
			}
			if got.Column != c.column || !strings.Contains(got.Message, c.want) {
				t.Errorf("got %q of the column %q, want %q of %q", got.Message, got.Column, c.want, c.column)
			}
		})
	}
}

// Every cut and every changed byte gives an error or rows, and never a panic.
func TestDamagedStreams(t *testing.T) {
	t.Parallel()
	for name, stream := range files(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := range stream {
				_, _ = rowsOf(stream[:n])
				for _, to := range []byte{0, 1, 0x7f, 0x80, 0xff, stream[n] ^ 4} {
					damaged := bytes.Clone(stream)
					damaged[n] = to
					_, _ = rowsOf(damaged)
				}
			}
		})
	}
}

// Texts that overlap cannot use more memory than the limit.
func TestOverlappingTextsAreBounded(t *testing.T) {
	t.Parallel()
	const rows, length = mostRows, 1 << 10
	stream := written(t, []arrow.Field{{Name: "station", Type: arrow.BinaryTypes.String}}, func(b *array.RecordBuilder) {
		texts := b.Field(0).(*array.StringBuilder)
		texts.Append(strings.Repeat("x", length))
		for range rows - 1 {
			texts.Append("")
		}
	})
	// The offsets 0, length, length, … become 0, length, 0, length, …
	offsets := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, 0), length)
	at := bytes.LastIndex(stream, offsets)
	for i := range rows + 1 {
		binary.LittleEndian.PutUint32(stream[at+4*i:], uint32(i%2*length))
	}
	got, err := rowsOf(stream)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, row := range got {
		if text, ok := row[0].(string); ok {
			total += len(text)
		}
	}
	if total != arrowstream.MaxBytes {
		t.Errorf("got %d bytes of text, want %d", total, arrowstream.MaxBytes)
	}
}

func TestDecompressionIsBounded(t *testing.T) {
	t.Parallel()
	for name, option := range map[string]ipc.Option{"lz4": ipc.WithLZ4(), "zstd": ipc.WithZstd()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stream := written(t, []arrow.Field{{Name: "value", Type: arrow.PrimitiveTypes.Float64}}, func(b *array.RecordBuilder) {
				b.Field(0).(*array.Float64Builder).AppendValues(make([]float64, 5<<20), nil)
			}, option)
			_, err := rowsOf(stream)
			if err == nil || !strings.Contains(err.Error(), "after decompression") {
				t.Errorf("%d bytes that decompress to 40 MiB: got %v, want the limit", len(stream), err)
			}
		})
	}
}

// FuzzRead reads damaged streams. Nothing may panic, and no text may exceed its limit.
func FuzzRead(f *testing.F) {
	for _, stream := range files(f) {
		f.Add(stream)
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		rows, err := rowsOf(stream)
		if _, ours := errors.AsType[*arrowstream.Error](err); err != nil && !ours {
			t.Errorf("got another error: %v", err)
		}
		for _, row := range rows {
			for _, v := range row {
				if text, ok := v.(string); ok && (len(text) > arrowstream.MaxText || !utf8.ValidString(text)) {
					t.Errorf("got the text %q", text)
				}
			}
		}
	})
}
