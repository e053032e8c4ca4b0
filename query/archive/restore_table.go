package archive

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"vayu/internal/columnstore"
	"vayu/query/aggregate"
	"vayu/query/dataset"
	"vayu/schema/statement"
)

// markName is the name of a table without rows that exists while a restore fills the other tables. The comment of
// this table has the time at which the restore began.
const markName = "archive_restore"

// CheckComplete returns an error if a restore has filled only a part of a database, because it is running or was
// killed. The error names the commands that end this state. It also returns an error if ClickHouse does not answer.
func CheckComplete(ctx context.Context, conn aggregate.Conn, databases ...string) error {
	var database string
	err := queryValue(ctx, conn, &database, "SELECT database FROM system.tables WHERE database IN {databases:Array(String)} AND name = {name:String}",
		aggregate.Param("databases", databases), aggregate.Param("name", markName))
	if err != nil {
		return fmt.Errorf("looking for a killed restore: %w", err)
	}
	if database != "" {
		return fmt.Errorf("a restore of an archive into %[1]s is running, or was killed, so tables may lack rows: "+
			"repeat \"vayu archive restore --again\", or accept the tables as they are with: vayu sql --write \"DROP TABLE %[1]s.%[2]s\"", database, markName)
	}
	return nil
}

// mark returns the SQL name of the table markName. On a cluster, the clause ON CLUSTER follows the name.
func (r *restore) mark() string {
	name, cluster, _ := strings.Cut(r.o.Tables.LocalTable(markName), " ")
	return strings.TrimSuffix(name, "_local") + " " + cluster
}

// begin checks that the tables except the catalogue are empty, and marks them as incomplete. If a killed restore has
// left its mark, begin returns an error, unless the option Again is set. With that option it empties the tables.
func (r *restore) begin(ctx context.Context, m Manifest) error {
	var mark string
	err := queryValue(ctx, r.conn, &mark, "SELECT comment FROM system.tables WHERE database = {database:String} AND name = {name:String}",
		aggregate.Param("database", r.database), aggregate.Param("name", markName))
	if err != nil {
		return fmt.Errorf("reading the tables: %w", err)
	}
	if mark != "" && !r.o.Again {
		return fmt.Errorf("a restore into %s is running, or was killed: if it was killed, repeat the command with --again, which empties the tables first", r.database)
	}
	for _, t := range m.Tables {
		var n uint64
		if err := r.conn.QueryRow(ctx, "SELECT count() FROM "+statement.QuoteName(r.database, t.Name)).Scan(&n); err != nil {
			return fmt.Errorf("reading the table %s: %w", t.Name, err)
		}
		if n > 0 && t.Name == catalogue {
			r.keep = true
			continue
		}
		if n > 0 && mark == "" {
			return fmt.Errorf("the table %s has %d rows: an archive is restored into an empty installation only", t.Name, n)
		}
	}
	if mark != "" {
		if err := r.checkForeign(ctx, m, mark); err != nil {
			return err
		}
		return r.empty(ctx, m)
	}
	var began int64 // by ClickHouse's clock, because checkForeign compares it with versions of rows
	if err := queryValue(ctx, r.conn, &began, "SELECT toInt64(toUnixTimestamp(now()))"); err != nil {
		return fmt.Errorf("reading the time: %w", err)
	}
	err = r.conn.Exec(ctx, fmt.Sprintf("CREATE TABLE %s (at DateTime) ENGINE = Null COMMENT 'A restore of an archive began at %d (Unix time).'", r.mark(), began))
	if err != nil {
		return fmt.Errorf("marking the tables: %w", err)
	}
	return nil
}

// markTime finds the time at which a restore began, in the comment of the table markName.
var markTime = regexp.MustCompile(`began at (\d+) `)

// checkForeign returns an error if something else has stored rows since the killed restore began, because begin would
// delete them. Such rows have a version after that time. A restored row keeps its old version.
func (r *restore) checkForeign(ctx context.Context, m Manifest, mark string) error {
	began := markTime.FindStringSubmatch(mark)
	if len(began) == 0 {
		return fmt.Errorf("the table %s.%s is not that of a restore", r.database, markName)
	}
	for _, t := range known(m) {
		if t.Version == "" {
			continue
		}
		var n uint64
		err := queryValue(ctx, r.conn, &n, "SELECT count() FROM "+statement.QuoteName(r.database, t.Name)+
			" WHERE toUnixTimestamp("+t.Version+") > {began:Int64}", aggregate.Param("began", began[1]))
		if err != nil {
			return fmt.Errorf("reading the table %s: %w", t.Name, err)
		}
		if n > 0 {
			return fmt.Errorf("the table %s has %d rows that something else has stored since the restore began: "+
				"to lose them, empty the table first (vayu sql --write \"TRUNCATE TABLE …\"), or keep all rows with: vayu sql --write \"DROP TABLE %s.%s\"",
				t.Name, n, r.database, markName)
		}
	}
	return nil
}

// end drops the table markName, because the restore is complete.
func (r *restore) end(ctx context.Context) error {
	if err := r.conn.Exec(ctx, "DROP TABLE IF EXISTS "+r.mark()+" SYNC"); err != nil {
		return fmt.Errorf("removing the mark %s: %w", markName, err)
	}
	return nil
}

// clearTimeout limits the cleanup after a failure, which continues even if the caller's context has ended.
const clearTimeout = time.Minute

// clear empties the tables after a failed restore.
func (r *restore) clear(ctx context.Context, m Manifest) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), clearTimeout)
	defer cancel()
	if err := r.empty(ctx, m); err != nil {
		return fmt.Errorf("after the failure: %w; repeat the command with --again", err)
	}
	return r.end(ctx)
}

// empty empties the tables. On a cluster it empties the local tables of every node, because TRUNCATE of a distributed
// table removes no rows.
func (r *restore) empty(ctx context.Context, m Manifest) error {
	for _, t := range m.Tables {
		if t.Name == catalogue && r.keep {
			continue
		}
		if err := r.conn.Exec(ctx, "TRUNCATE TABLE "+r.o.Tables.LocalTable(t.Name)); err != nil {
			return fmt.Errorf("emptying the table %s: %w", t.Name, err)
		}
	}
	return nil
}

// table restores a table. It omits months whose rows ClickHouse would delete.
func (r *restore) table(ctx context.Context, t Table) error {
	table := known(Manifest{Tables: []Table{t}})[0]
	present, err := dataset.Columns(ctx, r.conn, r.database, table)
	if err != nil {
		return err
	}
	for _, c := range t.Columns {
		if !slices.ContainsFunc(present, func(p dataset.Column) bool { return p.Name == c.Name }) {
			return fmt.Errorf("the archive has a column %q, which this program does not know; upgrade the program", c.Name)
		}
	}
	kept, err := keeps(ctx, r.conn, r.database, table)
	if err != nil {
		return err
	}
	whole, since := uint64(0), time.Time{} // number of rows of the months from which retention deletes nothing; their start
	for _, f := range t.Files {
		from, to, err := f.bounds()
		if err != nil {
			return err
		}
		expired := kept > 0 && !to.Add(kept).After(r.o.Now)
		if !expired {
			if err := r.file(ctx, t.Name, f, present); err != nil {
				return fmt.Errorf("%s: %w", f.Path, err)
			}
		}
		if r.o.Progress != nil {
			r.o.Progress(f, expired)
		}
		if kept > 0 && from.Add(kept).Before(r.o.Now) {
			since = to
			continue
		}
		whole += f.Rows
	}
	return r.compare(ctx, table, whole, since)
}

// bounds returns the beginning and the end of the month of a file. They are zero for a table without time.
func (f File) bounds() (from, to time.Time, err error) {
	if f.Month == "" {
		return from, to, nil
	}
	if from, err = time.Parse("2006-01", f.Month); err != nil {
		return from, to, errors.New("the manifest has no month " + strconv.Quote(f.Month))
	}
	return from, from.AddDate(0, 1, 0), nil
}

// compare returns an error unless `want` rows are stored: in all months, or from the month of `since` on if it is set.
func (r *restore) compare(ctx context.Context, t dataset.Table, want uint64, since time.Time) error {
	query := "SELECT count() FROM " + statement.QuoteName(r.database, t.Name)
	if !since.IsZero() {
		query += fmt.Sprintf(" WHERE toYYYYMM(%s) >= %d", t.Time, since.Year()*100+int(since.Month()))
	}
	var n uint64
	if err := r.conn.QueryRow(columnstore.Final(ctx), query).Scan(&n); err != nil {
		return fmt.Errorf("counting the rows: %w", err)
	}
	if n != want {
		return fmt.Errorf("%d rows are stored, and the archive has %d: stop everything else that writes to the tables", n, want)
	}
	return nil
}
