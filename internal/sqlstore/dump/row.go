package dump

import (
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// cells holds the variables into which Scan reads one row.
type cells struct {
	of   []column
	dest []any
}

func newCells(of []column) cells {
	c := cells{of: of}
	for _, column := range of {
		switch column.kind {
		case text:
			c.dest = append(c.dest, new(sql.Null[string]))
		case integer:
			c.dest = append(c.dest, new(sql.Null[int64]))
		case binary:
			c.dest = append(c.dest, new(sql.Null[[]byte]))
		}
	}
	return c
}

// appendJSON appends the row as a line with a JSON object: text as a string, integers with all digits, bytes in base64.
func (c cells) appendJSON(line []byte) ([]byte, error) {
	for i, column := range c.of {
		line = append(line, "{,"[min(i, 1)])
		line = strconv.AppendQuote(line, column.name) // names are plain ASCII
		line = append(line, ':')
		switch cell := c.dest[i].(type) {
		case *sql.Null[string]:
			if !cell.Valid {
				line = append(line, "null"...)
				break
			}
			if !utf8.ValidString(cell.V) {
				return nil, fmt.Errorf("column %q contains text that is not UTF-8", column.name)
			}
			quoted, err := json.Marshal(cell.V)
			if err != nil {
				return nil, err
			}
			line = append(line, quoted...)
		case *sql.Null[int64]:
			if !cell.Valid {
				line = append(line, "null"...)
				break
			}
			line = strconv.AppendInt(line, cell.V, 10)
		case *sql.Null[[]byte]:
			if !cell.Valid {
				line = append(line, "null"...)
				break
			}
			line = append(line, '"')
			line = base64.StdEncoding.AppendEncode(line, cell.V)
			line = append(line, '"')
		}
	}
	return append(line, "}\n"...), nil
}

// parseRow parses a line of a dump. It returns one value per column, in the order of `of`: a string, an int64, a []byte
// or nil.
func parseRow(of []column, line []byte) ([]any, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		return nil, err
	}
	if len(fields) != len(of) {
		return nil, fmt.Errorf("it has %d columns, and the table has %d", len(fields), len(of))
	}
	values := make([]any, len(of))
	for i, column := range of {
		raw, ok := fields[column.name]
		if !ok {
			return nil, fmt.Errorf("column %q is missing", column.name)
		}
		value, err := parseCell(column.kind, raw)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", column.name, err)
		}
		values[i] = value
	}
	return values, nil
}

func parseCell(kind kind, raw json.RawMessage) (any, error) {
	if string(raw) == "null" {
		return nil, nil
	}
	if kind == integer {
		return strconv.ParseInt(string(raw), 10, 64)
	}
	var value string
	if err := json.Unmarshal(raw, &value); err != nil {
		return nil, err
	}
	if kind == text {
		return value, nil
	}
	bytes, err := base64.StdEncoding.Strict().DecodeString(value)
	if err != nil {
		return nil, err
	}
	return bytes, nil
}
