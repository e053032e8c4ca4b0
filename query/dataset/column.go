package dataset

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"vayu/query/aggregate"
	"vayu/schema/statement"
)

// Column is a column of a table, with the type in which it is exported. Enumerations are exported as text.
type Column struct {
	Name string
	Type string // ClickHouse type of the table
	// Comment describes the content of the column, with its unit.
	Comment string
	// Stored means that the table stores the column. ClickHouse computes other columns (ALIAS) when they are read.
	Stored bool

	sql   string // expression that yields the exported form
	arrow arrow.DataType
	wire  func(name string) values
}

// Conn is the part of a ClickHouse connection that this package uses.
type Conn interface {
	aggregate.Conn
	Blocks
}

// Columns reads a table's columns from ClickHouse. It omits the column "removed", as removed rows are not exported.
func Columns(ctx context.Context, conn aggregate.Conn, database string, t Table) ([]Column, error) {
	rows, err := conn.Query(ctx, `SELECT name, type, comment, default_kind != 'ALIAS' FROM system.columns
		WHERE database = {database:String} AND table = {table:String} AND default_kind NOT IN ('MATERIALIZED', 'EPHEMERAL')
			AND name != 'removed' ORDER BY position`,
		aggregate.Param("database", database), aggregate.Param("table", t.Name))
	if err != nil {
		return nil, fmt.Errorf("reading the columns of %s: %w", t.Name, err)
	}
	defer func() { _ = rows.Close() }()
	var all []Column
	for rows.Next() {
		var c Column
		if err := rows.Scan(&c.Name, &c.Type, &c.Comment, &c.Stored); err != nil {
			return nil, fmt.Errorf("reading the columns of %s: %w", t.Name, err)
		}
		c.choose()
		all = append(all, c)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading the columns of %s: %w", t.Name, err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there is no table %s.%s", database, t.Name)
	}
	return all, nil
}

var (
	wrapped  = regexp.MustCompile(`^(LowCardinality|Nullable)\((.*)\)$`)
	textList = regexp.MustCompile(`^Array\((LowCardinality\()?String\)+$`)
)

// choose selects the SQL expression and the Arrow type with which a column is exported. A column of an unsupported
// type is exported as text.
func (c *Column) choose() {
	plain, nullable, few := c.Type, false, false
	for m := wrapped.FindStringSubmatch(plain); m != nil; m = wrapped.FindStringSubmatch(plain) {
		nullable, few = nullable || m[1] == "Nullable", few || m[1] == "LowCardinality"
		plain = m[2]
	}
	name := statement.QuoteName(c.Name)
	if form, ok := numbers[plain]; ok && !few {
		c.sql, c.arrow, c.wire = name, form.arrow, form.plain
		if nullable {
			c.wire = form.nullable
		}
		return
	}
	switch {
	case nullable && strings.HasPrefix(plain, "DateTime"):
		c.sql, c.arrow, c.wire = "toUnixTimestamp64Milli(toDateTime64("+name+", 3))", arrow.FixedWidthTypes.Timestamp_ms, nullableInstants
	case nullable && strings.HasPrefix(plain, "Date"):
		c.sql, c.arrow, c.wire = "toInt32("+name+")", arrow.FixedWidthTypes.Date32, nullableDates
	case nullable:
		c.sql, c.arrow, c.wire = "CAST("+name+", 'Nullable(String)')", arrow.BinaryTypes.String, nullableTexts
	case plain == "Date":
		c.sql, c.arrow, c.wire = name, arrow.FixedWidthTypes.Date32, dates
	case plain == "Date32":
		c.sql, c.arrow, c.wire = name, arrow.FixedWidthTypes.Date32, longDates
	case strings.HasPrefix(plain, "DateTime64(3"):
		c.sql, c.arrow, c.wire = name, arrow.FixedWidthTypes.Timestamp_ms, milliseconds
	case strings.HasPrefix(plain, "DateTime64"):
		c.sql, c.arrow, c.wire = "toDateTime64("+name+", 3, 'UTC')", arrow.FixedWidthTypes.Timestamp_ms, milliseconds
	case strings.HasPrefix(plain, "DateTime"):
		c.sql, c.arrow, c.wire = name, arrow.FixedWidthTypes.Timestamp_ms, seconds
	case strings.HasPrefix(plain, "Enum8("):
		c.sql, c.arrow, c.wire = name, dictionaryType, enums
	case c.Type == "Array(Float64)":
		c.sql, c.arrow, c.wire = name, arrow.ListOf(arrow.PrimitiveTypes.Float64), numberLists
	case textList.MatchString(c.Type):
		c.sql, c.arrow, c.wire = "CAST("+name+", 'Array(String)')", arrow.ListOf(arrow.BinaryTypes.String), lists
	case plain == "String" && !few:
		c.sql, c.arrow, c.wire = name, arrow.BinaryTypes.String, texts
	default:
		c.sql, c.arrow, c.wire = "CAST("+name+", 'LowCardinality(String)')", dictionaryType, newFewTexts
		if c.Type == "LowCardinality(String)" {
			c.sql = name
		}
	}
}

// selectList returns the SQL expressions of columns, without aliases. If an alias equalled a column's name,
// conditions and the sort order would use the converted value.
func selectList(columns []Column) string {
	all := make([]string, len(columns))
	for i := range columns {
		all[i] = columns[i].sql
	}
	return strings.Join(all, ", ")
}

// Schema returns the Arrow schema of columns. The metadata of the schema are facts about the whole file, such as
// licences. The metadata of a field is the comment of its column.
func Schema(columns []Column, facts map[string]string) *arrow.Schema {
	fields := make([]arrow.Field, len(columns))
	for i := range columns {
		c := &columns[i]
		fields[i] = arrow.Field{Name: c.Name, Type: c.arrow, Nullable: strings.Contains(c.Type, "Nullable("), Metadata: arrow.MetadataFrom(map[string]string{"comment": c.Comment})}
	}
	names := make([]string, 0, len(facts))
	for name := range facts {
		names = append(names, name)
	}
	slices.Sort(names)
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = facts[name]
	}
	meta := arrow.NewMetadata(names, texts)
	return arrow.NewSchema(fields, &meta)
}
