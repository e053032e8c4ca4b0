// Package result writes the result of an SQL statement. For people it writes a
// table. For programs it writes CSV, JSON lines or an Arrow stream.
package result

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Rows is the result of a ClickHouse query. It can be read once, row by row.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Columns() []string
	ColumnTypes() []driver.ColumnType
	Err() error
}

// Writer writes a result and returns the number of its rows.
type Writer func(w io.Writer, rows Rows) (int, error)

// Formats maps the name of each format to its writer.
var Formats = map[string]Writer{
	"table": Table,
	"csv":   CSV,
	"json":  JSON,
	"arrow": Arrow,
}

// cells holds one row. Each element is a pointer to the type into which its column
// scans.
type cells []any

func newCells(rows Rows) cells {
	types := rows.ColumnTypes()
	c := make(cells, len(types))
	for i, t := range types {
		c[i] = reflect.New(t.ScanType()).Interface()
		switch name := strings.TrimPrefix(t.DatabaseTypeName(), "Nullable("); {
		case unnamedTuple.MatchString(name):
			c[i] = new([]any)
		case composite.MatchString(name):
			c[i] = new(any)
		}
	}
	return c
}

// ClickHouse types for which the driver reports a Go type into which it cannot
// scan.
var (
	unnamedTuple = regexp.MustCompile(`^Tuple\(\w+[,()]`) // in a named tuple a blank follows the first word
	composite    = regexp.MustCompile(`^(Tuple|Nested|Variant|Dynamic|JSON)\b`)
)

// each scans the rows one after the other into the same cells, and calls row after each scan. It returns the number of
// rows.
func each(rows Rows, row func(c cells) error) (int, error) {
	c := newCells(rows)
	n := 0
	for rows.Next() {
		// Cells are reset, because Scan of a NULL keeps the pointer of the
		// previous row.
		for i := range c {
			reflect.ValueOf(c[i]).Elem().SetZero()
		}
		if err := rows.Scan(c...); err != nil {
			return n, fmt.Errorf("reading row %d: %w", n+1, err)
		}
		if err := row(c); err != nil {
			return n, err
		}
		n++
	}
	return n, rows.Err()
}

// value returns the value of cell i, which is never a pointer. It returns nil for
// NULL.
func (c cells) value(i int) any {
	v := reflect.ValueOf(c[i]).Elem()
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	if bytes, ok := reflect.TypeAssert[[]uint8](v); ok { // JSON would encode an array of UInt8 as base64
		numbers := make([]int, len(bytes))
		for i, b := range bytes {
			numbers[i] = int(b)
		}
		return numbers
	}
	return v.Interface()
}

// text returns cell i as text for tables and CSV. For NULL it returns null.
func (c cells) text(i int, null string) string {
	switch v := c.value(i).(type) {
	case nil:
		return null
	case string:
		return v
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case float32:
		return strconv.FormatFloat(float64(v), 'f', -1, 32)
	default:
		if k := reflect.ValueOf(v).Kind(); k == reflect.Slice || k == reflect.Map || k == reflect.Struct {
			if text, err := json.Marshal(v); err == nil {
				return string(text)
			}
		}
		return fmt.Sprint(v)
	}
}

// isDate reports whether a column's ClickHouse type is a calendar date.
func isDate(t driver.ColumnType) bool {
	switch t.DatabaseTypeName() {
	case "Date", "Date32", "Nullable(Date)", "Nullable(Date32)":
		return true
	}
	return false
}

// dates returns a function that formats a cell as text. It formats cells of date
// columns as YYYY-MM-DD.
func dates(rows Rows) func(c cells, i int, null string) string {
	types := rows.ColumnTypes()
	day := make([]bool, len(types))
	for i, t := range types {
		day[i] = isDate(t)
	}
	return func(c cells, i int, null string) string {
		if day[i] {
			if t, ok := c.value(i).(time.Time); ok {
				return t.Format(time.DateOnly)
			}
		}
		return c.text(i, null)
	}
}
