// Package ingest brings readings in: it asks sources for them on a schedule,
// refuses what cannot be true and says why, and writes the rest to ClickHouse
// by columns.
//
// Sources are dumb and the runner is wise: a source fetches and parses, and
// everything around it (schedule, jitter, overlap, time-out, panic, breaker,
// watermark, metrics) is written once, here.
package ingest

import (
	"context"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"vayu/schema"
)

// Window is the time for which readings are wanted: those whose averaging
// interval ends after From and not after To, in UTC. A source that only has the
// present ignores From.
type Window struct{ From, To time.Time }

// Source is one network, feed or file.
type Source interface {
	// Fetch yields the source's readings of a window in batches and returns nil
	// when it has yielded them all. Readings outside the window may be yielded
	// too; storing a reading twice changes nothing. Fetch may be called again,
	// never twice at once. It returns as soon as ctx ends or yield returns an
	// error, and then returns that error. A batch belongs to yield once passed,
	// and one that yield has accepted is stored later or fetched again by a new
	// source: a source may remember in memory, and only there, that it is done.
	Fetch(ctx context.Context, w Window, yield func(*Batch) error) error
}

// Batch is a group of readings on its way to the table `reading`.
type Batch struct {
	// Readings has the columns of [schema.ReadingColumns]. Whoever holds the
	// batch last releases it with [Batch.Release].
	Readings arrow.Record
	// Stations describes every station that has a reading in the batch.
	Stations []schema.Station
	// Missing names the stations, pollutants and times for which the source says
	// that it has no figure; Value is unused. A reading of the same key in the
	// same batch counts more than its entry here. Stations need not be described.
	Missing []schema.Reading
	// Withdrawn is how many stored readings the store took back because of
	// Missing. [Store.Load] sets it when it succeeds.
	Withdrawn int
	// Rejected counts the values that were refused, by reason.
	Rejected Rejections
	// Position is where in its input a file source stands after this batch, in
	// the source's own measure; 0 where a source cannot be resumed.
	Position int64
	// token names the insert of the readings for as long as its outcome is unknown.
	token string
}

// Rows returns the number of readings in the batch.
func (b *Batch) Rows() int {
	if b.Readings == nil {
		return 0
	}
	return int(b.Readings.NumRows())
}

// Release frees the batch's columns.
func (b *Batch) Release() {
	if b.Readings != nil {
		b.Readings.Release()
		b.Readings = nil
	}
}

// Reading returns a row of the batch as a value, for tables and tests; batches
// are stored by columns.
func (b *Batch) Reading(row int) schema.Reading {
	int8At := func(column int) int8 { return b.Readings.Column(column).(*array.Int8).Value(row) }
	textAt := func(column int) string {
		return strings.Clone(b.Readings.Column(column).(*array.String).Value(row)) // outlives the batch
	}
	at := b.Readings.Column(schema.ReadingAt).(*array.Timestamp).Value(row)
	return schema.Reading{
		Station:   textAt(schema.ReadingStation),
		Pollutant: schema.Pollutant(int8At(schema.ReadingPollutant)),
		At:        time.Unix(int64(at), 0).UTC(),
		Value:     b.Readings.Column(schema.ReadingValue).(*array.Float64).Value(row),
		Kind:      schema.Kind(int8At(schema.ReadingKind)),
		Averaging: b.Readings.Column(schema.ReadingAveraging).(*array.Uint16).Value(row),
		Flag:      schema.Flag(int8At(schema.ReadingFlag)),
		Source:    textAt(schema.ReadingSource),
	}
}
