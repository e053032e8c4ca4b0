package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"vayu/ingest"
)

// Job is one input to import.
type Job struct {
	// Key identifies the input and its content. Two inputs with the same key have the same bytes. See [FileKey].
	Key string
	// Source is the name of the source in the journal.
	Source string
	// Open opens the input at a position that an earlier [ingest.Batch.Position] stated; 0 is the beginning.
	Open func(position int64) (ingest.Source, error)
	// If Progress is not nil, Import calls it after each stored batch, from one goroutine. Progress may keep its
	// argument.
	Progress func(Summary)
}

// Summary is the result of an import. It covers the whole input, including the parts that interrupted runs stored.
// Read is always the sum of Stored and all counts in Rejected.
type Summary struct {
	Read     int               // values read
	Stored   int               // values that are in ClickHouse
	Rejected ingest.Rejections // rejected values by reason
	// Withdrawn counts stored readings that the input now reports as missing. Rejected counts them too, as
	// [ingest.MissingValue].
	Withdrawn int
	// Positions counts the dropped positions of stations. The readings of these stations are stored.
	Positions ingest.Rejections
	Stations  int           // stations that have a stored reading
	Elapsed   time.Duration // working time, without the time between runs
	Resumed   bool          // the run continued an interrupted import
	// RecordError is the error of the journal if it could not store the run; nil otherwise.
	RecordError error
}

// Importer stores inputs completely and resumes interrupted imports.
type Importer struct {
	store    Store
	journal  Journal
	progress progressFolder
}

// NewImporter returns an importer that records its runs in a journal. dir is the directory of the progress files, and
// is created on demand.
func NewImporter(store Store, journal Journal, dir string) *Importer {
	return &Importer{store: store, journal: journal, progress: progressFolder(dir)}
}

// Import stores an input. It is idempotent: a repeated import stores the same readings again. After an interruption,
// the same job resumes at the last position that ClickHouse acknowledged. A finished import removes its progress file.
// If no reading is stored or withdrawn, Import returns a [NothingStoredError]. After an error the summary covers what
// was stored. Each call is a run in the journal.
func (i *Importer) Import(ctx context.Context, job Job) (Summary, error) {
	begun := time.Now()
	run := ingest.Run{ID: ingest.NewRunID(begun), Source: job.Source, Kind: ingest.ImportRun, Window: ingest.Window{To: begun}}
	var recorder ingest.Recorder
	summary, err := i.run(ingest.WithRecorder(ctx, &recorder), job, &run)
	var nothing *NothingStoredError
	switch {
	case errors.As(err, &nothing):
		run.Outcome, run.Error = string(Refused), err.Error()
	case err != nil:
		run.Outcome, run.Error = string(outcomeOf(err)), err.Error()
	default:
		run.Outcome = string(Done)
	}
	run.Elapsed, run.Received, run.Fingerprint = time.Since(begun), recorder.Received(), recorder.Fingerprint()
	// The run is recorded even if ctx has ended, because the readings of an interrupted import stay stored.
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	summary.RecordError = i.journal.Record(limited, []ingest.Run{run})
	return summary, err
}

// run stores the input of a job. It counts stored, withdrawn and rejected values in `recorded`, the run that the caller
// then writes to the journal.
func (i *Importer) run(ctx context.Context, job Job, recorded *ingest.Run) (Summary, error) {
	state := i.progress.load(job.Key)
	src, err := job.Open(state.Position)
	if err != nil {
		return Summary{}, fmt.Errorf("importing: %w", err)
	}
	run := importRun{job: job, folder: i.progress, state: state, begun: recorded.Started(), recorded: recorded, stations: make(map[string]bool)}
	for _, id := range state.Stations {
		run.stations[id] = true
	}
	load := loadWithRetry(&runStore{i.store, recorded.ID}, func(error) {})
	left, err := transfer(ctx, src, recorded.Window, load, run.stored)
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

// NothingStoredError means that an import read its input to the end, but no reading was stored or withdrawn.
type NothingStoredError struct{ Rejected ingest.Rejections }

// Error implements error. It names the most frequent reason.
func (e *NothingStoredError) Error() string {
	reason, n := e.Rejected.MostFrequent()
	if reason == ingest.None {
		return "nothing was stored: the input has no values"
	}
	total := 0
	for _, count := range e.Rejected {
		total += count
	}
	return fmt.Sprintf("nothing was stored: %d of %d values were rejected as %s (%s)", n, total, reason, reason.Explain())
}

// importRun is the state of one call of Import.
type importRun struct {
	job      Job
	folder   progressFolder
	state    progress // counts up to now, and the last saved position
	begun    time.Time
	recorded *ingest.Run // the run for the journal
	stations map[string]bool
}

// stored counts a batch that ClickHouse has acknowledged, and saves its position if it is after the last saved one.
func (r *importRun) stored(_ context.Context, b *ingest.Batch) error {
	r.recorded.Add(b)
	r.state.Stored += b.Count()
	r.state.Withdrawn += b.Withdrawn
	for reason, n := range b.Rejected {
		if reason.ConcernsPosition() {
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
