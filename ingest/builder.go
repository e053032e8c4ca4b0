package ingest

import (
	"context"
	"fmt"
	"time"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"vayu/schema/air"
)

// batchRows is the number of readings that makes a batch full, about 16 MB of columns. ClickHouse writes a separate
// part for each month in an insert. Many small batches are therefore slow: with a quarter of this size, an import took
// 1.5 times as long.
const batchRows = 1 << 18

// batchMissing is the number of missing values that makes a batch full, and also that of bulletins (AQIs of agencies).
// The loader queries the stored reading of each missing value, so a larger number would make the query too large.
const batchMissing = 1 << 16

// Builder turns parsed readings into batches. A source creates a Builder, describes its stations, adds readings, and
// closes the Builder. The Builder applies the plausibility rules, so that sources need no rules of their own. It is not
// safe for concurrent use.
type Builder struct {
	source string
	now    time.Time
	yield  func(*Batch) error

	known    map[string]int // station id -> index in stations
	stations []described
	used     []int // indexes of stations with a reading in the batch
	columns  *array.RecordBuilder
	fields   fields
	batch    *Batch
	rows     int

	record func() (line int64, raw string) // the function that Describe has set, or nil
	kept   Rejections                      // how many rejected values the fetch has kept in Batch.Values

	recorder *Recorder // see Observe

	position   int64
	positioned bool  // the source calls At
	err        error // error of a flush in At, Missing or Bulletin
}

// fields are the builder's columns with their concrete types.
type fields struct {
	station, source *array.StringBuilder
	kind, flag      *array.Int8Builder
	parameter       *array.Uint8Builder
	at              *array.TimestampBuilder
	value           *array.Float64Builder
	averaging       *array.Uint16Builder
}

// NewBuilder returns a builder for a fetch. The builder passes its batches to the function `yield`.
func NewBuilder(source string, now time.Time, yield func(*Batch) error) *Builder {
	columns := array.NewRecordBuilder(memory.DefaultAllocator, air.ReadingColumns)
	return &Builder{
		source: source, now: now, yield: yield, known: make(map[string]int), columns: columns, batch: new(Batch),
		fields: fields{
			station:   columns.Field(air.ReadingStation).(*array.StringBuilder),
			parameter: columns.Field(air.ReadingParameter).(*array.Uint8Builder),
			at:        columns.Field(air.ReadingAt).(*array.TimestampBuilder),
			value:     columns.Field(air.ReadingValue).(*array.Float64Builder),
			kind:      columns.Field(air.ReadingKind).(*array.Int8Builder),
			averaging: columns.Field(air.ReadingAveraging).(*array.Uint16Builder),
			flag:      columns.Field(air.ReadingFlag).(*array.Int8Builder),
			source:    columns.Field(air.ReadingSource).(*array.StringBuilder),
		},
	}
}

// Close yields the remaining readings as the last batch, and frees the columns. Call Close once, after a successful
// fetch. After an error, call [Builder.Discard] instead.
func (b *Builder) Close() error {
	defer b.columns.Release()
	if b.err != nil {
		return b.err
	}
	if b.rows == 0 && len(b.batch.Bulletins) == 0 && len(b.batch.Rejected) == 0 && len(b.batch.Partitions) == 0 {
		return nil
	}
	return b.flush()
}

// Discard frees the columns without yielding them.
func (b *Builder) Discard() { b.columns.Release() }

func (b *Builder) flush() error {
	batch := b.batch
	batch.Readings = b.columns.NewRecord()
	batch.Position = b.position
	for _, i := range b.used {
		s := &b.stations[i]
		batch.Stations = append(batch.Stations, s.Station)
		s.used = false
	}
	b.batch, b.rows, b.used = new(Batch), 0, b.used[:0]
	if len(batch.Missing) >= batchMissing { // the next batch probably has as many missing values
		b.batch.Missing = make([]air.Reading, 0, batchMissing)
	}
	if err := b.yield(batch); err != nil {
		return fmt.Errorf("yielding a batch: %w", err)
	}
	return nil
}

// Observe makes [Builder.Field] and [Builder.Unit] report to the [Recorder] in ctx, the context of the fetch.
func (b *Builder) Observe(ctx context.Context) { b.recorder = RecorderOf(ctx) }

// Continue makes this builder continue an earlier builder of the same fetch. It copies the function that
// [Builder.Describe] has set, the recorder, and how many rejected values were kept for each reason.
func (b *Builder) Continue(earlier *Builder) {
	b.record, b.kept, b.recorder = earlier.record, earlier.kept, earlier.recorder
}
