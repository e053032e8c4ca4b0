package ingest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Job is one input to import.
type Job struct {
	// Key names the input and its content: the same key means the same bytes.
	// See [FileKey].
	Key string
	// Open opens the input so that Fetch goes on at a position that a batch of
	// it carried; 0 is the beginning.
	Open func(position int64) (Source, error)
	// Progress, unless nil, is called after each stored batch from one
	// goroutine. The summary is its own.
	Progress func(Summary)
}

// Summary is what an import did, from the input's beginning even when it was
// interrupted and went on. Read is always Stored plus all of Rejected.
type Summary struct {
	Read     int        // values seen
	Stored   int        // values that are in ClickHouse
	Rejected Rejections // values refused, by reason
	// Withdrawn counts stored readings that were taken back, because the input
	// says that there is no figure. They are among Rejected as [MissingValue].
	Withdrawn int
	// Positions counts the positions of stations that were dropped; the readings
	// of these stations are stored.
	Positions Rejections
	Stations  int           // stations that have a stored reading
	Elapsed   time.Duration // time spent, without the time between two tries
	Resumed   bool          // whether an earlier import was taken up
}

// Importer stores inputs once, completely, however often it is interrupted.
type Importer struct {
	store    Store
	progress progressFolder
}

// NewImporter returns an importer that keeps its progress in dir, which it
// makes when it needs it.
func NewImporter(store Store, dir string) *Importer {
	return &Importer{store: store, progress: progressFolder(dir)}
}

// Import stores an input. Interrupted in whatever way, it loses and doubles
// nothing when it is called again with the same job: it goes on where
// ClickHouse had acknowledged everything before. A finished import leaves no
// progress behind, and doing it again stores the same readings over the same.
// An import that neither stores nor withdraws a reading returns a
// [NothingStoredError]. After an error the summary says what had been stored.
func (i *Importer) Import(ctx context.Context, job Job) (Summary, error) {
	begun := time.Now()
	state := i.progress.load(job.Key)
	src, err := job.Open(state.Position)
	if err != nil {
		return Summary{}, fmt.Errorf("importing: %w", err)
	}
	run := importRun{job: job, folder: i.progress, state: state, begun: begun, stations: make(map[string]bool)}
	for _, id := range state.Stations {
		run.stations[id] = true
	}
	load := patiently(i.store, func(error) {})
	left, err := transfer(ctx, src, Window{To: begun}, load, run.stored)
	releaseAll(&left)
	if err != nil {
		return run.summary(), fmt.Errorf("importing: %w", err)
	}
	if err := i.progress.remove(job.Key); err != nil {
		return run.summary(), fmt.Errorf("importing: %w", err)
	}
	summary := run.summary()
	if summary.Stored == 0 && summary.Withdrawn == 0 {
		return summary, &NothingStoredError{summary.Rejected}
	}
	return summary, nil
}

// NothingStoredError is an import whose input was read to its end and gave not
// a single reading. Readings that had been stored before count as stored.
type NothingStoredError struct{ Rejected Rejections }

// Error implements error. It names the reason of most rejections.
func (e *NothingStoredError) Error() string {
	reason, n := e.Rejected.Main()
	if reason == None {
		return "nothing was stored: the input holds no values"
	}
	total := 0
	for _, count := range e.Rejected {
		total += count
	}
	return fmt.Sprintf("nothing was stored: %d of %d values were rejected as %s (%s)", n, total, reason, reason.Explain())
}

// importRun is one call of Import.
type importRun struct {
	job      Job
	folder   progressFolder
	state    progress // what is stored
	begun    time.Time
	stations map[string]bool
}

// stored notes a batch that ClickHouse has acknowledged.
func (r *importRun) stored(_ context.Context, b *Batch) error {
	r.state.Stored += b.Rows()
	r.state.Withdrawn += b.Withdrawn
	for reason, n := range b.Rejected {
		if reason.keepsReading() {
			r.state.Positions.Add(reason, n)
		} else {
			r.state.Rejected.Add(reason, n)
		}
	}
	for _, s := range b.Stations {
		r.stations[s.ID] = true
	}
	if b.Position > r.state.Position {
		saved := r.state
		saved.Key, saved.Position = r.job.Key, b.Position
		saved.Stations = slices.Sorted(maps.Keys(r.stations))
		saved.Elapsed += time.Since(r.begun)
		if err := r.folder.save(saved); err != nil {
			return err
		}
		r.state.Position = b.Position
	}
	if r.job.Progress != nil {
		r.job.Progress(r.summary())
	}
	return nil
}

func (r *importRun) summary() Summary {
	s := Summary{
		Read: r.state.Stored, Stored: r.state.Stored, Withdrawn: r.state.Withdrawn, Stations: len(r.stations),
		Rejected: maps.Clone(r.state.Rejected), Positions: maps.Clone(r.state.Positions),
		Elapsed: r.state.Elapsed + time.Since(r.begun), Resumed: r.state.Key != "",
	}
	for _, n := range s.Rejected {
		s.Read += n
	}
	return s
}

// keepsReading reports whether what was refused is not a value but a
// station's position.
func (r Reason) keepsReading() bool { return r == BadPosition || r == StationMoved }
