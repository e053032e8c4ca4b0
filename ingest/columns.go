package ingest

import "github.com/ClickHouse/clickhouse-go/v2"

var aliasColumns = []clickhouse.ColumnNameAndType{
	{Name: "alias", Type: "String"}, {Name: "station", Type: "String"}, {Name: "reason", Type: "String"}, {Name: "actor", Type: "String"},
}

var changeColumns = []clickhouse.ColumnNameAndType{
	{Name: "station", Type: "String"}, {Name: "field", Type: "String"}, {Name: "before", Type: "String"},
	{Name: "after", Type: "String"}, {Name: "source", Type: "String"}, {Name: "reason", Type: "String"},
}

// aliasSlices converts rows to the columns of aliasColumns.
func aliasSlices(all []alias) []any {
	return []any{
		column(all, func(a alias) string { return a.alias }), column(all, func(a alias) string { return a.station }),
		column(all, func(a alias) string { return a.reason }), column(all, func(a alias) string { return a.actor }),
	}
}

// changeSlices converts rows to the columns of changeColumns.
func changeSlices(all []change) []any {
	return []any{
		column(all, func(c change) string { return c.station }), column(all, func(c change) string { return c.field }),
		column(all, func(c change) string { return c.before }), column(all, func(c change) string { return c.after }),
		column(all, func(c change) string { return c.source }), column(all, func(c change) string { return c.reason }),
	}
}

func column[T any](rows []T, field func(T) string) []string {
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = field(row)
	}
	return out
}
