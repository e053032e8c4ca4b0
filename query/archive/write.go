package archive

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"vayu/query/dataset"
	"vayu/schema"
)

// Options configure a run of [Write].
type Options struct {
	World    schema.World
	Database string // name of the database of the world
	Version  string // of the program
	Now      time.Time
	// Prune removes from the archive all months and rows that ClickHouse no longer has, for whatever reason. If
	// ClickHouse has no rows of a table at all, the table's last file stays.
	Prune bool
	// A run calls Fewer, if not nil, for each file that has more rows than ClickHouse for no known reason. The run
	// keeps such a file. `rows` is the number of rows in ClickHouse.
	Fewer func(f File, rows uint64)
	// A run calls Progress, if not nil, after each file. `changed` is false for a file that stays as it is.
	Progress func(f File, changed bool)
}

// Result counts what a run of [Write] has done.
type Result struct {
	Manifest Manifest
	// These are numbers of files. ClickHouse has all rows of the Written and the Kept (unchanged) files. Retained files
	// stay because ClickHouse no longer has all their rows. Fewer is the number of Retained files whose rows ClickHouse
	// lacks for no known reason. Removed files are no longer in the archive.
	Written, Kept, Retained, Fewer, Removed int
	Bytes                                   int64 // of the written files
}

// Write brings an archive up to date: it writes the months that have changed, and then replaces the manifest. The error
// is [ErrBusy] if another run writes the archive. After an error, readers see the last archive.
func Write(ctx context.Context, conn dataset.Conn, place Place, o Options) (result Result, err error) {
	if err := place.Begin(ctx); err != nil {
		return Result{}, fmt.Errorf("preparing the archive: %w", err)
	}
	defer func() { err = errors.Join(err, place.End(ctx)) }()
	r := &run{conn: conn, place: place, o: o}
	r.Manifest = Manifest{Format: formatVersion, Vayu: o.Version, World: o.World.String(), Made: o.Now.UTC().Truncate(time.Second), Run: rand.Text()}
	if err := r.begin(ctx); err != nil {
		return Result{}, err
	}
	if err := r.write(ctx); err != nil {
		return Result{}, err
	}
	if err := r.commit(ctx); err != nil {
		return Result{}, fmt.Errorf("completing the archive: %w", err)
	}
	return r.Result, nil
}

// run is the state of one call of [Write].
type run struct {
	Result

	conn   dataset.Conn
	place  Place
	o      Options
	before Manifest
	stored map[string]int64 // sizes of the files before the run
	lost   bool             // the table of stations has lost rows, see checkStations
}

// begin reads the last archive. For a new archive it first stores an empty manifest, so that an interrupted run
// never leaves files without a manifest.
func (r *run) begin(ctx context.Context) error {
	var err error
	r.before, err = ReadManifest(ctx, r.place)
	fresh := errors.Is(err, ErrMissing)
	if err != nil && !fresh {
		return err
	}
	if !fresh && r.before.World != r.o.World.String() {
		return fmt.Errorf("the archive is one of the %s world: choose another place for that of %s", r.before.World, r.o.World)
	}
	// The run lists the files after it has read the manifest. Once the run has replaced that manifest, no run needs a
	// listed file that the new manifest lacks. So commit removes these files.
	if r.stored, err = r.place.List(ctx); err != nil {
		return fmt.Errorf("listing the archive: %w", err)
	}
	if !fresh {
		return nil
	}
	if len(r.stored) > 0 {
		return fmt.Errorf("there are %d files of an archive, but no %s: put it back, or choose another place", len(r.stored), ManifestName)
	}
	if err := r.store(ctx); err != nil {
		return err
	}
	r.before, err = ReadManifest(ctx, r.place)
	return err
}

// order returns the tables in the order in which a run reads them. First come the tables that record finished roll-ups
// and forecasts. Readings come after the figures, so an archive has the readings of all its figures. Stations are last.
func order() []dataset.Table {
	all := dataset.Archived()
	rank := map[string]int{"rollup": -1, "forecast_issue": -1, "forecast_hour_issue": -1, "reading": 1, "parameter": 2, "station": 3}
	slices.SortStableFunc(all, func(a, b dataset.Table) int { return cmp.Compare(rank[a.Name], rank[b.Name]) })
	return all
}

func (r *run) write(ctx context.Context) error {
	if err := r.checkStations(ctx); err != nil {
		return err
	}
	for _, t := range order() {
		if err := r.table(ctx, t); err != nil {
			return fmt.Errorf("archiving the table %s: %w", t.Name, err)
		}
	}
	return nil
}

// commit publishes the new files and the new manifest. Then it removes files that the manifest lacks, including those
// that an interrupted run has left.
func (r *run) commit(ctx context.Context) error {
	slices.SortFunc(r.Manifest.Tables, func(a, b Table) int { return cmp.Compare(a.Name, b.Name) })
	if err := r.store(ctx); err != nil {
		return err
	}
	var orphans []string
	for _, path := range slices.Sorted(maps.Keys(r.stored)) {
		if !r.Manifest.has(path) {
			orphans = append(orphans, path)
		}
	}
	if err := r.place.Remove(ctx, orphans); err != nil {
		return fmt.Errorf("the new archive is complete, but removing old files failed: %w", err)
	}
	return nil
}

// store replaces the manifest of the archive.
func (r *run) store(ctx context.Context) error {
	text, err := json.MarshalIndent(r.Manifest, "", "  ")
	if err != nil {
		return err
	}
	return r.place.Commit(ctx, append(text, '\n'))
}

// month writes the file of a month, unless the archive has a whole file with the same version.
func (r *run) month(ctx context.Context, reader *dataset.Reader, m dataset.Month, licences []dataset.Licence, before *Table) (File, error) {
	text, err := json.Marshal(licences)
	if err != nil {
		return File{}, fmt.Errorf("writing the licences: %w", err)
	}
	shape := dataset.Schema(reader.Columns, map[string]string{"vayu:table": reader.Selection.Table.Name, "vayu:licences": string(text)})
	f := pathOf(reader.Selection.Table.Name, m.Month)
	f.Version = version(fmt.Sprint(shape), m)
	if last, ok := before.month(f.Month); ok && last.Version == f.Version && r.whole(last) {
		r.Kept++
		r.report(last, false)
		return last, nil
	}
	stored, err := r.place.Put(ctx, f.Path, func(w io.Writer) error {
		out, err := dataset.Formats["parquet"].New(w, shape)
		if err != nil {
			return err
		}
		write := func(record arrow.Record) error {
			f.Rows += uint64(record.NumRows()) // includes rows that were stored since the count; the next run writes the month again
			return out.Write(record)
		}
		if err := reader.Each(ctx, shape, []dataset.Month{m}, write); err != nil {
			return err
		}
		return out.Close()
	})
	if err != nil {
		return f, err
	}
	f.Path, f.Bytes, f.SHA256 = stored.Path, stored.Bytes, stored.SHA256
	r.Written++
	r.Bytes += f.Bytes
	r.report(f, true)
	return f, nil
}

// whole reports whether the archive had the file f, in the size that the manifest states, when the run began.
func (r *run) whole(f File) bool {
	size, ok := r.stored[f.Path]
	return ok && size == f.Bytes
}

func (r *run) report(f File, changed bool) {
	if r.o.Progress != nil {
		r.o.Progress(f, changed)
	}
}

// version returns a hash of everything that determines the content of a file.
func version(shape string, m dataset.Month) string {
	h := sha256.New()
	_, _ = fmt.Fprintln(h, formatVersion, shape, m.Rows, m.Hash) // a hash never fails
	return hex.EncodeToString(h.Sum(nil)[:16])
}
