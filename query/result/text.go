package result

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/olekukonko/tablewriter"
)

// Table writes rows as an aligned table, and returns their number. It holds all
// rows in memory.
func Table(w io.Writer, rows Rows) (int, error) {
	table := tablewriter.NewWriter(w)
	table.Options(tablewriter.WithHeaderAutoFormat(-1))
	header := rows.Columns()
	table.Header(header)
	text := dates(rows)
	n, err := each(rows, func(c cells) error {
		line := make([]string, len(c))
		for i := range c {
			line[i] = text(c, i, "NULL")
		}
		return table.Append(line)
	})
	if err != nil {
		return n, err
	}
	return n, table.Render()
}

// CSV writes a header line and one line per row (RFC 4180), and returns the number
// of rows. NULL is an empty field. Instants are in RFC 3339 and UTC.
func CSV(w io.Writer, rows Rows) (int, error) {
	out := csv.NewWriter(w)
	if len(rows.Columns()) > 0 { // a result without rows may lack its columns
		if err := out.Write(rows.Columns()); err != nil {
			return 0, fmt.Errorf("writing the header: %w", err)
		}
	}
	text := dates(rows)
	line := make([]string, len(rows.Columns()))
	n, err := each(rows, func(c cells) error {
		for i := range c {
			line[i] = text(c, i, "")
		}
		return out.Write(line)
	})
	out.Flush()
	if err == nil {
		err = out.Error()
	}
	return n, err
}

// finite returns v, or nil if JSON cannot represent its value x.
func finite(x float64, v any) any {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return v
}

// JSON writes each row as a JSON object on its own line, and returns the number of rows. Fields are
// in column order. A number that JSON cannot represent becomes null.
func JSON(w io.Writer, rows Rows) (int, error) {
	out := bufio.NewWriter(w)
	names := make([][]byte, len(rows.Columns()))
	for i, name := range rows.Columns() {
		quoted, err := json.Marshal(name)
		if err != nil {
			return 0, fmt.Errorf("writing the name of column %q: %w", name, err)
		}
		names[i] = quoted
	}
	text := dates(rows)
	n, err := each(rows, func(c cells) error {
		for i := range c {
			lead := byte(',')
			if i == 0 {
				lead = '{'
			}
			_ = out.WriteByte(lead) // the buffer keeps its first error for Flush
			_, _ = out.Write(names[i])
			_ = out.WriteByte(':')
			v := c.value(i)
			switch x := v.(type) {
			case time.Time:
				v = text(c, i, "")
			case float64:
				v = finite(x, v)
			case float32:
				v = finite(float64(x), v)
			}
			cell, err := json.Marshal(v)
			if err != nil {
				return fmt.Errorf("writing column %s: %w", names[i], err)
			}
			_, _ = out.Write(cell)
		}
		_, err := out.WriteString("}\n")
		return err
	})
	if flushed := out.Flush(); err == nil {
		err = flushed
	}
	return n, err
}
