package snapshot

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"vayu/query/aggregate"
	"vayu/schema"
)

// Publisher builds the snapshots of one world (live or sandbox) and publishes the latest one. The methods Latest and
// Built are safe for concurrent use. Calls of the other methods must not overlap.
type Publisher struct {
	tables    loader
	kinds     aggregate.KindSet // kinds of stations that count by default
	file      string            // file of the snapshot; "" for none
	published atomic.Pointer[published]
	mark      mark
	promoteAt int64       // Unix seconds at which an hour becomes current without a roll-up; 0 for never
	read      atomic.Bool // whether this process has read the tables
}

// published is a snapshot with its publication (see [aggregate.Publication]). If a roll-up changes no row of
// the snapshot, only the publication changes.
type published struct {
	*Snapshot
	of aggregate.Publication // zero for a restored snapshot
}

// NewPublisher returns a Publisher that builds snapshots from tables. If a query names no kinds,
// stations of the given kinds and of [aggregate.DefaultKinds] count. `directory` has the snapshot
// files of the worlds; "" means no files.
func NewPublisher(t aggregate.Tables, world schema.World, kinds aggregate.KindSet, directory string) *Publisher {
	p := &Publisher{tables: loader{t}, kinds: aggregate.DefaultKinds | kinds}
	if directory != "" {
		p.file = snapshotFile(directory, world)
	}
	return p
}

// Latest returns the published snapshot; nil if there is none yet. [Publisher.Restore] may have read it from a file.
func (p *Publisher) Latest() *Snapshot {
	if now := p.published.Load(); now != nil {
		return now.Snapshot
	}
	return nil
}

// Built returns the published snapshot and its publication, if this process has built the snapshot from the tables.
// It returns nil for a restored snapshot, which may be older than those of other instances.
func (p *Publisher) Built() (*Snapshot, aggregate.Publication) {
	if !p.read.Load() {
		return nil, aggregate.Publication{}
	}
	now := p.published.Load()
	return now.Snapshot, now.of
}

// Restore publishes the snapshot of the last run from its file. It returns false and no error if
// there is no file.
func (p *Publisher) Restore() (bool, error) {
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
	p.published.Store(&published{Snapshot: snap})
	return true, nil
}

// Save writes the published snapshot to the file of p, if p has one.
func (p *Publisher) Save() error {
	if p.file == "" {
		return nil
	}
	return writeSnapshot(p.file, p.Latest())
}

// Change describes the result of a refresh.
type Change struct {
	Published bool // there is a new snapshot
	// Rolled is true after a new roll-up, and after the first refresh. From is the first day whose rows may then have
	// changed. If Rolled is false, From has no meaning.
	From   schema.Day
	Rolled bool
}

// Refresh publishes a new snapshot if there is none yet, after a new roll-up, and when an hour becomes current. It
// keeps the previous snapshot if the roll-up changed no hour of a city or public station. (Public stations belong to no
// account.) If there are readings but no roll-up yet, it publishes nothing, because no city would have an AQI.
func (p *Publisher) Refresh(ctx context.Context, now time.Time) (Change, error) {
	mark, from, err := p.tables.rollups(ctx, p.mark)
	if err != nil {
		return Change{}, err
	}
	if mark.count == 0 {
		if waiting, err := p.tables.hasReadings(ctx); waiting || err != nil {
			return Change{}, err
		}
	}
	rolled := !p.read.Load() || mark != p.mark
	due := p.promoteAt > 0 && now.Unix() >= p.promoteAt
	if !rolled && !due {
		return Change{}, nil
	}
	since := uint32(0)
	if p.read.Load() {
		since = uint32(max(from.Unix(), 0))
	}
	snap, err := p.rebuild(ctx, rolled, due, since, now)
	if err != nil {
		return Change{}, err
	}
	fresh := snap != p.Latest()
	p.published.Store(&published{snap, aggregate.Publication{RolledUp: mark.at, Rollups: int64(mark.count), Promoted: snap.promoted()}})
	p.promoteAt = snap.nextPromotion()
	if rolled {
		p.mark = mark
		p.read.Store(true)
	}
	return Change{Published: fresh, Rolled: rolled, From: schema.DayOf(aggregate.Instant(since))}, nil
}

// rebuild builds a new snapshot. If `rolled` is set, there is a new roll-up, and rebuild reads the hours at or after
// the time `since`. Otherwise it uses the rows of the previous snapshot, and only selects the current hours again. If
// no row changed and no hour is due to become current, rebuild returns the previous snapshot.
func (p *Publisher) rebuild(ctx context.Context, rolled, due bool, since uint32, now time.Time) (s *Snapshot, err error) {
	before := p.Latest()
	f := before.input()
	if rolled {
		f, err = p.tables.refresh(ctx, before, since, now)
	}
	switch {
	case err != nil:
		return nil, err
	case f.unchanged && !due:
		return before, nil
	case f.unchanged || !rolled:
		f = before.input()
		since = uint32(now.Add(-aggregate.HourReach * time.Second).Unix())
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
