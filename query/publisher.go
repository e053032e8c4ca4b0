package query

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"vayu/schema"
)

// publisher builds the snapshots of one world and publishes the latest. latest is
// safe for concurrent use. Calls of the other methods must not overlap.
type publisher struct {
	tables    loader
	kinds     kindSet // that count by default
	file      string  // file of the snapshot; "" for none
	published atomic.Pointer[Snapshot]
	mark      mark
	promoteAt int64 // when an hour becomes current without a roll-up, Unix seconds; 0 for never
	read      bool  // the tables have been read once in this run
}

// newPublisher returns a publisher of snapshots from tables, in which kinds count by
// default. directory holds the files of the worlds; "" for none.
func newPublisher(t tables, world schema.World, kinds kindSet, directory string) *publisher {
	p := &publisher{tables: loader{t}, kinds: defaultKinds | kinds}
	if directory != "" {
		p.file = snapshotFile(directory, world)
	}
	return p
}

// latest returns the published snapshot; nil for none.
func (p *publisher) latest() *Snapshot { return p.published.Load() }

// restore publishes the snapshot of the last run. It returns false without an error
// if there is none.
func (p *publisher) restore() (bool, error) {
	if p.file == "" {
		return false, nil
	}
	snap, err := readSnapshot(p.file, p.kinds)
	if errors.Is(err, errNoSnapshot) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	p.published.Store(snap)
	return true, nil
}

// save writes the published snapshot to the file.
func (p *publisher) save() error {
	if p.file == "" {
		return nil
	}
	return writeSnapshot(p.file, p.published.Load())
}

// change is what a refresh changed.
type change struct {
	published bool
	// from is the first day of which a roll-up may have changed rows. It is set if
	// rolled.
	from   schema.Day
	rolled bool
}

// refresh publishes a new snapshot after a roll-up, or when an hour is due to become
// current.
func (p *publisher) refresh(ctx context.Context, now time.Time) (change, error) {
	mark, from, err := p.tables.rollups(ctx, p.mark)
	if err != nil {
		return change{}, err
	}
	rolled := !p.read || mark != p.mark
	if !rolled && (p.promoteAt == 0 || now.Unix() < p.promoteAt) {
		return change{}, nil
	}
	since := uint32(0)
	if p.read {
		since = uint32(max(from.Unix(), 0))
	}
	snap, err := p.rebuild(ctx, rolled, since, now)
	if err != nil {
		return change{}, err
	}
	p.published.Store(snap)
	p.promoteAt = snap.nextPromotion()
	if rolled {
		p.mark, p.read = mark, true
	}
	return change{published: true, rolled: rolled, from: schema.DayOf(instant(since))}, nil
}

// rebuild makes a new snapshot. If rolled, it reads the hours at or after since.
// Otherwise it uses the previous input at a later time.
func (p *publisher) rebuild(ctx context.Context, rolled bool, since uint32, now time.Time) (s *Snapshot, err error) {
	before := p.latest()
	f := before.input()
	if rolled {
		f, err = p.tables.refresh(ctx, before, since, now)
	} else {
		since = uint32(now.Add(-hourReach * time.Second).Unix())
		f.stations = slices.Clone(f.stations)
		err = p.tables.promote(ctx, &f, now)
	}
	if err != nil {
		return nil, err
	}
	f.kinds = p.kinds
	snap := assemble(f, before, now)
	if err := p.tables.fillCityGaps(ctx, snap, since); err != nil {
		return nil, err
	}
	if err := p.tables.readRecent(ctx, snap, before, &f.changes); err != nil {
		return nil, err
	}
	if err := p.tables.readCityHourReports(ctx, snap, before, &f.changes); err != nil {
		return nil, err
	}
	snap.renderAnswers(before)
	return snap, nil
}
