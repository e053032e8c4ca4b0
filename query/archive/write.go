package archive

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"vayu/query/dataset"
	"vayu/schema"
)

// Options describe a run.
type Options struct {
	World    schema.World
	Database string // name of the database of the world
	Version  string // of the program
	Now      time.Time
	// Progress is called after each file of a run; nil for none. changed is false for a file that stays as it is.
	Progress func(f File, changed bool)
}

// Result counts what a run has done.
type Result struct {
	Manifest               Manifest
	Written, Kept, Removed int
	Bytes                  int64 // of the written files
}

// Write brings an archive up to date.
func Write(ctx context.Context, conn dataset.Conn, place Place, o Options) (Result, error) {
	if err := place.Begin(ctx); err != nil {
		return Result{}, fmt.Errorf("preparing the archive: %w", err)
	}
	before, err := ReadManifest(ctx, place)
	if err != nil && !errors.Is(err, ErrMissing) {
		return Result{}, err
	}
	if err == nil && before.World != o.World.String() {
		return Result{}, fmt.Errorf("the archive is one of the %s world: choose another place for that of %s", before.World, o.World)
	}
	r := &run{conn: conn, place: place, o: o, before: before}
	r.Manifest = Manifest{Format: formatVersion, Vayu: o.Version, World: o.World.String(), Made: o.Now.UTC().Truncate(time.Second)}
	if err := r.write(ctx); err != nil {
		return Result{}, errors.Join(err, place.Abort())
	}
	if err := r.commit(ctx); err != nil {
		return Result{}, fmt.Errorf("completing the archive: %w", err)
	}
	return r.Result, nil
}

// run is a run in progress.
type run struct {
	Result

	conn   dataset.Conn
	place  Place
	o      Options
	before Manifest
}

// order returns the tables in the order in which they are read. Marks of the roll-up come first, and sources of figures
// come after the figures. So an archive has the sources of everything that it says. Stations are last.
func order() []dataset.Table {
	all := dataset.Archived()
	rank := map[string]int{"rollup": -1, "reading": 1, "parameter": 2, "station": 3}
	slices.SortStableFunc(all, func(a, b dataset.Table) int { return cmp.Compare(rank[a.Name], rank[b.Name]) })
	return all
}

func (r *run) write(ctx context.Context) error {
	for _, t := range order() {
		if err := r.table(ctx, t); err != nil {
			return fmt.Errorf("archiving the table %s: %w", t.Name, err)
		}
	}
	return nil
}

// commit shows the new files and the new manifest.
func (r *run) commit(ctx context.Context) error {
	slices.SortFunc(r.Manifest.Tables, func(a, b Table) int { return cmp.Compare(a.Name, b.Name) })
	var removed []string
	for _, t := range r.before.Tables {
		for _, f := range t.Files {
			if _, still := r.Manifest.file(f.Path); !still {
				removed = append(removed, f.Path)
			}
		}
	}
	r.Removed = len(removed)
	text, err := json.MarshalIndent(r.Manifest, "", "  ")
	if err != nil {
		return errors.Join(err, r.place.Abort())
	}
	return r.place.Commit(ctx, append(text, '\n'), removed)
}

func (r *run) table(ctx context.Context, t dataset.Table) error {
	reader, err := dataset.NewReader(ctx, r.conn, r.o.Database, dataset.Selection{Table: t})
	if err != nil {
		return err
	}
	months, err := reader.Months(ctx)
	if err != nil {
		return err
	}
	out := Table{Name: t.Name, Files: []File{}}
	if out.Licences, err = reader.Licences(ctx); err != nil {
		return err
	}
	for _, c := range reader.Columns {
		out.Columns = append(out.Columns, Column{c.Name, c.Type, c.Comment})
	}
	licences, err := json.Marshal(out.Licences)
	if err != nil {
		return fmt.Errorf("writing the licences: %w", err)
	}
	for _, m := range months {
		shape := dataset.Schema(reader.Columns, map[string]string{"vayu:table": t.Name, "vayu:licences": string(licences)})
		f, err := r.month(ctx, reader, shape, m)
		if err != nil {
			return err
		}
		out.Files = append(out.Files, f)
	}
	r.Manifest.Tables = append(r.Manifest.Tables, out)
	return nil
}

// month writes the file of a month, unless the archive has it in the same version.
func (r *run) month(ctx context.Context, reader *dataset.Reader, shape *arrow.Schema, m dataset.Month) (File, error) {
	f := pathOf(reader.Selection.Table.Name, m.Month)
	f.Version = version(shape, m)
	if before, ok := r.before.file(f.Path); ok && before.Version == f.Version {
		r.Kept++
		r.report(before, false)
		return before, nil
	}
	sum, err := r.place.Put(ctx, f.Path, func(w io.Writer) error {
		out, err := dataset.Formats["parquet"].New(w, shape)
		if err != nil {
			return err
		}
		err = reader.Each(ctx, shape, []dataset.Month{m}, func(record arrow.Record) error {
			f.Rows += uint64(record.NumRows()) // rows that were stored since count, too; the next run writes the month again
			return out.Write(record)
		})
		if err != nil {
			return err
		}
		return out.Close()
	})
	if err != nil {
		return f, err
	}
	f.Bytes, f.SHA256 = sum.Bytes, sum.SHA256
	r.Written++
	r.Bytes += f.Bytes
	r.report(f, true)
	return f, nil
}

func (r *run) report(f File, changed bool) {
	if r.o.Progress != nil {
		r.o.Progress(f, changed)
	}
}

// pathOf returns the file of a month. 0 stands for a table without time.
func pathOf(table string, month uint32) File {
	if month == 0 {
		return File{Path: table + "/" + table + ".parquet"}
	}
	text := fmt.Sprintf("%04d-%02d", month/100, month%100)
	return File{Path: fmt.Sprintf("%s/year=%04d/month=%02d/%s-%s.parquet", table, month/100, month%100, table, text), Month: text}
}

// version returns a hash of everything that decides about a file.
func version(shape *arrow.Schema, m dataset.Month) string {
	h := sha256.New()
	_, _ = fmt.Fprintln(h, formatVersion, shape, m.Rows, m.Hash) // a hash never fails
	return hex.EncodeToString(h.Sum(nil)[:16])
}
