package loader

import (
	"github.com/ClickHouse/clickhouse-go/v2"

	"vayu/ingest/station"
)

var aliasColumns = []clickhouse.ColumnNameAndType{
	{Name: "alias", Type: "String"}, {Name: "station", Type: "String"}, {Name: "reason", Type: "String"}, {Name: "actor", Type: "String"},
}

var changeColumns = []clickhouse.ColumnNameAndType{
	{Name: "station", Type: "String"}, {Name: "field", Type: "String"}, {Name: "before", Type: "String"},
	{Name: "after", Type: "String"}, {Name: "source", Type: "String"}, {Name: "reason", Type: "String"},
}

// aliasSlices converts aliases to columns: one slice of values for each of aliasColumns.
func aliasSlices(all []station.Alias) []any {
	return []any{
		column(all, func(a station.Alias) string { return a.Alias }), column(all, func(a station.Alias) string { return a.Station }),
		column(all, func(a station.Alias) string { return a.Reason }), column(all, func(a station.Alias) string { return a.Actor }),
	}
}

// changeSlices converts changes to columns: one slice of values for each of changeColumns.
func changeSlices(all []station.Change) []any {
	return []any{
		column(all, func(c station.Change) string { return c.Station }), column(all, func(c station.Change) string { return c.Field }),
		column(all, func(c station.Change) string { return c.Before }), column(all, func(c station.Change) string { return c.After }),
		column(all, func(c station.Change) string { return c.Source }), column(all, func(c station.Change) string { return c.Reason }),
	}
}

func column[T, V any](rows []T, field func(T) V) []V {
	out := make([]V, len(rows))
	for i, row := range rows {
		out[i] = field(row)
	}
	return out
}
