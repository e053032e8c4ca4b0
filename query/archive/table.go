package archive

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"vayu/query/aggregate"
	"vayu/query/dataset"
	"vayu/schema/statement"
)

// table updates the archive of a table: it writes the months that have changed, and keeps some older files (see stays).
func (r *run) table(ctx context.Context, t dataset.Table) error {
	reader, err := dataset.NewReader(ctx, r.conn, r.o.Database, dataset.Selection{Table: t})
	if err != nil {
		return err
	}
	licences, err := reader.LicencesByMonth(ctx)
	if err != nil {
		return err
	}
	months, err := reader.Months(ctx)
	if err != nil {
		return err
	}
	if len(months) == 0 && t.Time == "" {
		if months, err = r.emptyMonth(ctx, t); err != nil {
			return err
		}
	}
	kept, err := keeps(ctx, r.conn, r.o.Database, t)
	if err != nil {
		return err
	}
	out, before := Table{Name: t.Name, Files: []File{}}, r.before.table(t.Name)
	for _, c := range reader.Columns {
		out.Columns = append(out.Columns, Column{c.Name, c.Type, c.Comment})
	}
	var partial []File
	for _, m := range months {
		last, ok := before.month(pathOf(t.Name, m.Month).Month)
		if ok {
			stays, err := r.stays(ctx, t, last, m.Rows, kept)
			if err != nil {
				return err
			}
			if stays {
				partial = append(partial, last)
				continue
			}
		}
		f, err := r.month(ctx, reader, m, licences[m.Month], &before)
		if err != nil {
			return err
		}
		out.Files = append(out.Files, f)
		out.add(licences[m.Month])
	}
	absent, err := r.absent(ctx, t, months, &before, kept)
	if err != nil {
		return err
	}
	if err := r.retain(&out, append(partial, absent...), before.Licences); err != nil {
		return err
	}
	r.Manifest.Tables = append(r.Manifest.Tables, out)
	return nil
}

// absent returns the files that stay in the archive although ClickHouse has no rows of their months.
func (r *run) absent(ctx context.Context, t dataset.Table, months []dataset.Month, before *Table, kept time.Duration) ([]File, error) {
	var all []File
	for _, f := range before.Files {
		if slices.ContainsFunc(months, func(m dataset.Month) bool { return pathOf(t.Name, m.Month).Month == f.Month }) {
			continue
		}
		stays, err := r.stays(ctx, t, f, 0, kept)
		if err != nil {
			return nil, err
		}
		if stays || r.o.Prune && len(months) == 0 && f == before.Files[len(before.Files)-1] { // a table without any rows is more likely lost than expired
			all = append(all, f)
			continue
		}
		r.Removed++
	}
	return all, nil
}

// retain keeps the archive's files of months of which ClickHouse has only some rows, or none. A lost file is an error.
func (r *run) retain(out *Table, retained []File, licences []dataset.Licence) error {
	for _, f := range retained {
		if !r.whole(f) {
			return fmt.Errorf("the archive has lost %s or a part of it, and ClickHouse no longer has its rows: put the file back, or remove its entry with --prune", f.Path)
		}
		r.report(f, false)
	}
	if len(retained) > 0 {
		out.add(licences)
	}
	r.Retained += len(retained)
	out.Files = append(out.Files, retained...)
	slices.SortFunc(out.Files, byMonth)
	return nil
}

func byMonth(a, b File) int { return cmp.Compare(a.Month, b.Month) }

// add adds those licences that the table does not have yet, and keeps the licences sorted.
func (t *Table) add(all []dataset.Licence) {
	for _, one := range all {
		if i, found := slices.BinarySearchFunc(t.Licences, one, dataset.Licence.Compare); !found {
			t.Licences = slices.Insert(t.Licences, i, one)
		}
	}
}

// emptyMonth returns the months to write for a table without time that has no current rows. If ClickHouse still has
// rows marked as removed, that is one month without rows, so the run writes an empty file. If ClickHouse has no rows at
// all, the table is new or lost: emptyMonth returns nil, so the archive keeps its file.
func (r *run) emptyMonth(ctx context.Context, t dataset.Table) ([]dataset.Month, error) {
	var n uint64
	err := queryValue(ctx, r.conn, &n, "SELECT count() FROM "+statement.QuoteName(r.o.Database, t.Name)+" SETTINGS final = 0")
	if err != nil || n == 0 {
		return nil, err
	}
	return []dataset.Month{{}}, nil
}

// queryValue reads the only value of a query.
func queryValue(ctx context.Context, conn aggregate.Conn, to any, query string, args ...any) error {
	rows, err := conn.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	if rows.Next() {
		err = rows.Scan(to)
	}
	return cmp.Or(err, rows.Err())
}

// deletion matches the clause of a table's engine that deletes rows by their time.
var deletion = regexp.MustCompile(`(?m) TTL (\w+) \+ toInterval(Day|Hour)\((\d+)\)(?:,| SETTINGS|$)`)

// keeps returns the retention of a table: how long ClickHouse keeps a row after the row's time. 0 means for ever. On a
// cluster, the engine of the table NAME_local states the retention.
func keeps(ctx context.Context, conn aggregate.Conn, database string, t dataset.Table) (time.Duration, error) {
	var engines string
	err := queryValue(ctx, conn, &engines, `SELECT arrayStringConcat(groupArray(engine_full), '\n') FROM system.tables
		WHERE database = {database:String} AND name IN ({table:String}, {local:String})`,
		aggregate.Param("database", database), aggregate.Param("table", t.Name), aggregate.Param("local", t.Name+"_local"))
	if err != nil {
		return 0, fmt.Errorf("reading the retention: %w", err)
	}
	m := deletion.FindStringSubmatch(engines)
	if len(m) == 0 || m[1] != t.Time {
		return 0, nil
	}
	n, err := strconv.Atoi(m[3])
	if m[2] == "Day" {
		n *= 24
	}
	return time.Duration(n) * time.Hour, err
}
