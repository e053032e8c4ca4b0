package ingest

import (
	"fmt"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"vayu/schema"
	"vayu/schema/gazetteer"
	"vayu/schema/geo"
)

// batchRows is how many readings make a batch: about 16 MB of columns. A year of a
// station spans twelve partitions, each of which is a part of the insert; batches of a
// quarter of this size took one and a half times as long.
const batchRows = 1 << 18

// batchMissing is how many readings of a batch are corrections to missing at most:
// each is looked up before it is removed.
const batchMissing = 1 << 16

// Builder turns parsed readings into batches. A source makes one per fetch,
// describes stations, adds readings and flushes at the end. It applies the
// rules, so a source never decides what is believable. A Builder is not safe
// for concurrent use.
type Builder struct {
	source string
	now    time.Time
	yield  func(*Batch) error

	known    map[string]int // station id -> index in stations
	stations []described
	used     []int // stations with a reading in the batch
	columns  *array.RecordBuilder
	fields   fields
	batch    *Batch
	rows     int

	position   int64
	positioned bool  // the source says where it is
	err        error // of a flush in At or Missing
}

// described is a station, and whether the batch at hand has readings of it.
type described struct {
	schema.Station
	used bool
}

// fields are the builder's columns by their own types.
type fields struct {
	station, source *array.StringBuilder
	kind, flag      *array.Int8Builder
	parameter       *array.Uint8Builder
	at              *array.TimestampBuilder
	value           *array.Float64Builder
	averaging       *array.Uint16Builder
}

// NewBuilder makes a builder for one fetch of a source at a time, which passes
// full batches to yield.
func NewBuilder(source string, now time.Time, yield func(*Batch) error) *Builder {
	columns := array.NewRecordBuilder(memory.DefaultAllocator, schema.ReadingColumns)
	return &Builder{
		source: source, now: now, yield: yield, known: make(map[string]int), columns: columns, batch: new(Batch),
		fields: fields{
			station:   columns.Field(schema.ReadingStation).(*array.StringBuilder),
			parameter: columns.Field(schema.ReadingParameter).(*array.Uint8Builder),
			at:        columns.Field(schema.ReadingAt).(*array.TimestampBuilder),
			value:     columns.Field(schema.ReadingValue).(*array.Float64Builder),
			kind:      columns.Field(schema.ReadingKind).(*array.Int8Builder),
			averaging: columns.Field(schema.ReadingAveraging).(*array.Uint16Builder),
			flag:      columns.Field(schema.ReadingFlag).(*array.Int8Builder),
			source:    columns.Field(schema.ReadingSource).(*array.StringBuilder),
		},
	}
}

// Station describes a station and returns its number for [Builder.Add].
// City and state are normalised; a position outside India is dropped and
// counted. Describing a station again is cheap and changes nothing, except
// that a description with a position completes one without.
func (b *Builder) Station(s schema.Station) int {
	if i, ok := b.known[s.ID]; ok {
		if old := &b.stations[i]; !old.Located() && s.Located() && geo.InIndia(s.Latitude, s.Longitude) {
			old.Latitude, old.Longitude = s.Latitude, s.Longitude
		}
		return i
	}
	s.Source = b.source
	s.Name = schema.CleanPlace(s.Name)
	s.City, s.State = gazetteer.Canonical(s.City, s.State)
	if s.Located() && !geo.InIndia(s.Latitude, s.Longitude) {
		s.Latitude, s.Longitude = 0, 0
		b.Reject(BadPosition)
	}
	b.stations = append(b.stations, described{Station: s})
	b.known[s.ID] = len(b.stations) - 1
	return len(b.stations) - 1
}

// Add adds a reading of a station. r.Station and r.Source are filled in here.
// A reading that the rules refuse is counted. The error is yield's.
func (b *Builder) Add(station int, r schema.Reading) error {
	if b.err != nil {
		return b.err
	}
	s := &b.stations[station]
	r.Station = s.ID
	if reason := Check(&r, b.now); reason != None {
		b.Reject(reason)
		return nil
	}
	b.note(station, r.At)
	f := &b.fields
	f.station.Append(r.Station)
	f.parameter.Append(uint8(r.Parameter))
	f.at.Append(arrow.Timestamp(r.At.Unix()))
	f.value.Append(r.Value)
	f.kind.Append(int8(r.Kind))
	f.averaging.Append(r.Averaging)
	f.flag.Append(int8(r.Flag))
	f.source.Append(b.source)
	b.rows++
	if b.rows < batchRows || b.positioned && b.rows < 2*batchRows { // At flushes between rows
		return nil
	}
	return b.flush()
}

// Missing reports that the source has no figure for a station, parameter and
// time: it names a cell that is empty or holds a marker such as NA. r.Value,
// r.Station and r.Source are ignored. The cell is counted as [MissingValue] and
// put into [Batch.Missing], so that the store can take back a figure that the
// source gave before. A key without a parameter, before the first believed
// instant or ahead of the clock is counted only.
func (b *Builder) Missing(station int, r schema.Reading) {
	b.Reject(MissingValue)
	if b.err != nil || !r.Parameter.Valid() || checkTime(r.At, b.now) != None {
		return
	}
	r.Station, r.Source, r.Value, r.Flag = b.stations[station].ID, b.source, 0, schema.Plain
	b.batch.Missing = append(b.batch.Missing, r)
	if len(b.batch.Missing) >= batchMissing && !b.positioned {
		b.err = b.flush()
	}
}

// note records that a station has a reading at an instant.
func (b *Builder) note(station int, at time.Time) {
	s := &b.stations[station]
	if s.FirstSeen.IsZero() || at.Before(s.FirstSeen) {
		s.FirstSeen = at
	}
	if at.After(s.LastSeen) {
		s.LastSeen = at
	}
	if !s.used {
		s.used = true
		b.used = append(b.used, station)
	}
}

// Reject counts a value, line or position that the source itself had to refuse.
func (b *Builder) Reject(reason Reason) { b.batch.Rejected.Add(reason, 1) }

// At notes how far in its input the source has got; batches carry it. A source
// calls it between the rows of its input, with a position from which everything
// not yet added or rejected can be read: batches then end between rows.
func (b *Builder) At(position int64) {
	b.position, b.positioned = position, true
	if b.err == nil && (b.rows >= batchRows || len(b.batch.Missing) >= batchMissing) {
		b.err = b.flush()
	}
}

// Close yields what is left and frees the builder's columns. Call it once, at
// the end of a fetch that went well; after an error call [Builder.Discard].
func (b *Builder) Close() error {
	defer b.columns.Release()
	if b.err != nil {
		return b.err
	}
	if b.rows == 0 && len(b.batch.Rejected) == 0 {
		return nil
	}
	return b.flush()
}

// Discard frees the builder's columns without yielding them.
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
	if len(batch.Missing) >= batchMissing { // the next batch of such a file will be the same
		b.batch.Missing = make([]schema.Reading, 0, batchMissing)
	}
	if err := b.yield(batch); err != nil {
		return fmt.Errorf("passing on a batch: %w", err)
	}
	return nil
}
