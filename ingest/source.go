// Package ingest defines sources of readings. A source fetches and parses. Its builder makes batches of the readings,
// and rejects invalid values with a reason. Package runner schedules the fetches, and package loader stores the
// batches.
package ingest

import (
	"context"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"vayu/schema/air"
	"vayu/schema/parameter"
)

// Window is the time range of the readings to fetch. It contains the averaging intervals that end after From and not
// after To, in UTC. A source without history ignores From.
type Window struct{ From, To time.Time }

// Source fetches and parses the readings of one network, feed or file.
type Source interface {
	// Fetch passes the source's readings of a window to `yield` in batches, and returns nil after the last one.
	// Readings outside the window are allowed, because storing is idempotent. Fetch may be called again, but not
	// concurrently. When ctx ends or `yield` returns an error, Fetch returns that error at once.
	//
	// The function `yield` owns the batch. If it returns nil, it may store the batch later. If the process crashes
	// first, a new Source must fetch the batch again. A Source may therefore record accepted input only in memory.
	Fetch(ctx context.Context, w Window, yield func(*Batch) error) error
}

// Batch is a group of readings for the table `reading`.
type Batch struct {
	// Readings has the columns of [air.ReadingColumns]. The last owner of the batch calls [Batch.Release].
	Readings arrow.Record
	// Stations describes the stations of the readings, except private stations.
	Stations []air.Station
	// Missing has the readings whose value the source reports as missing; their Value is unused. If Readings has the
	// same reading with a value, the value counts. The stations of these readings need not be in Stations.
	Missing []air.Reading
	// Bulletins are AQIs of cities as an agency published them.
	Bulletins []air.Bulletin
	// Withdrawn is the number of stored readings that the store withdrew because of Missing. The store sets it on
	// success.
	Withdrawn int
	// Rejected counts the rejected values by reason.
	Rejected Rejections
	// Values are the first rejected values of each reason in a fetch, except missing values. Operators can list them.
	Values []RejectedValue
	// Partitions has the results of the partitions whose fetch is complete once this batch is stored.
	Partitions []PartitionResult
	// Run is the ID of the run that fetched the batch, or 0 if there is none.
	Run uint64
	// Position is the position in a file source's input after this batch, in the
	// source's own unit. It is 0 if the source cannot resume.
	Position int64
	// Token identifies the insert of the batch, so that ClickHouse recognises a repeated insert. It is "" before the
	// first attempt to store the batch.
	Token string
}

// Rows returns the number of readings in the batch.
func (b *Batch) Rows() int {
	if b.Readings == nil {
		return 0
	}
	return int(b.Readings.NumRows())
}

// Count returns the number of readings and bulletins in the batch.
func (b *Batch) Count() int { return b.Rows() + len(b.Bulletins) }

// Release frees the batch's columns.
func (b *Batch) Release() {
	if b.Readings != nil {
		b.Readings.Release()
		b.Readings = nil
	}
}

// Reading returns a row of the batch as a value, for tables and tests.
func (b *Batch) Reading(row int) air.Reading {
	int8At := func(column int) int8 { return b.Readings.Column(column).(*array.Int8).Value(row) }
	textAt := func(column int) string {
		return strings.Clone(b.Readings.Column(column).(*array.String).Value(row)) // the copy outlives the batch
	}
	at := b.Readings.Column(air.ReadingAt).(*array.Timestamp).Value(row)
	return air.Reading{
		Station:   textAt(air.ReadingStation),
		Parameter: parameter.Parameter(b.Readings.Column(air.ReadingParameter).(*array.Uint8).Value(row)),
		At:        time.Unix(int64(at), 0).UTC(),
		Value:     b.Readings.Column(air.ReadingValue).(*array.Float64).Value(row),
		Kind:      air.Kind(int8At(air.ReadingKind)),
		Averaging: b.Readings.Column(air.ReadingAveraging).(*array.Uint16).Value(row),
		Flag:      air.Flag(int8At(air.ReadingFlag)),
		Source:    textAt(air.ReadingSource),
	}
}
