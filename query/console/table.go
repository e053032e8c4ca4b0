package console

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/olekukonko/tablewriter"
)

// tableRows limits the rows of a table. A table holds its rows in memory, and a person reads fewer.
const tableRows = 10_000

// table writes a result as a table. It calls `start` before its first write.
func (c *Console) table(result io.Reader, start func()) error {
	defer start()
	rows := json.NewDecoder(bufio.NewReaderSize(result, 64<<10))
	var header, types []string
	if err := rows.Decode(&header); errors.Is(err, io.EOF) {
		return nil // a statement without a result
	} else if err != nil {
		return err
	}
	if err := rows.Decode(&types); err != nil {
		return err
	}
	table := tablewriter.NewWriter(c.Out)
	table.Options(tablewriter.WithHeaderAutoFormat(-1))
	table.Header(header)
	cut := false
	for n := 0; ; n++ {
		var row []json.RawMessage
		err := rows.Decode(&row)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if n == tableRows {
			cut = true
			break
		}
		line := make([]string, len(row))
		for i := range row {
			line[i] = cell(row[i])
		}
		if err := table.Append(line); err != nil {
			return fmt.Errorf("writing the table: %w", err)
		}
	}
	start()
	if err := table.Render(); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	if cut {
		_, _ = fmt.Fprintf(c.Err, "Only the first %d rows are shown. For all rows, add --format csv -o FILE.\n", tableRows)
	}
	return nil
}

// cell returns a JSON value as the text of a cell. It replaces control characters, which could change the terminal.
func cell(value json.RawMessage) string {
	text := string(value)
	switch {
	case text == "null":
		return "NULL"
	case text[0] == '"':
		if json.Unmarshal(value, &text) != nil {
			return string(value)
		}
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
