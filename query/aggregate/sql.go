package aggregate

import (
	"fmt"
	"slices"
	"strings"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"

	"vayu/schema"
	"vayu/schema/air"
)

// Hundredths returns an SQL expression that converts `expr`, a Nullable concentration, to a schema.Figure. NULL and
// values above 2e7 become schema.Unknown.
func Hundredths(expr string) string {
	return fmt.Sprintf("ifNull(toInt32(if(%[1]s > 2e7, NULL, floor(%[1]s * 100 + 0.5))), %[2]d)", expr, schema.Unknown)
}

// figureColumns returns the SQL expressions that [Scanned.Into] scans, in its order: concentrations, sub-indices, AQI
// and numbers of stations. If `counts` is true, the numbers of stations come from the table (city_hour, city_day).
// Otherwise they are 1, because station_hour has no such columns.
func figureColumns(counts bool) string {
	columns := []string{"toUInt32(at)", "toUInt32(updated)"}
	for _, p := range air.Pollutants {
		columns = append(columns, Hundredths(p.String()))
	}
	for _, p := range air.Pollutants {
		columns = append(columns, "ifNull(toInt16("+p.String()+"_index), -1)")
	}
	if counts {
		columns = append(columns, "toInt16(aqi)", "stations_used", "stations_total")
	} else {
		columns = append(columns, "ifNull(toInt16(aqi), -1)", "toUInt16(1)", "toUInt16(1)")
	}
	return strings.Join(append(columns, "toUInt8(dominant)", "derived", "daily_mean"), ", ")
}

var (
	// StationFigures are the columns of station_hour that Scanned reads.
	StationFigures = figureColumns(false)
	// CityFigures are the columns of city_hour and city_day that Scanned reads.
	CityFigures = figureColumns(true)
)

// Scanned holds the figures of one row, in the types into which the driver scans.
type Scanned struct {
	at, updated    uint32
	amount         [Records]int32
	other          [Others]int32
	index          [len(air.Pollutants)]int16
	aqi            int16
	used, total    uint16
	dominant       uint8
	derived, daily uint8
}

// Into returns the destinations for scanning a row. `leading` are the destinations of the columns before those of
// the figures.
func (r *Scanned) Into(leading ...any) []any {
	dest := slices.Concat(leading, []any{&r.at, &r.updated})
	for i := range r.amount {
		dest = append(dest, &r.amount[i])
	}
	for i := range r.other {
		dest = append(dest, &r.other[i])
	}
	for i := range r.index {
		dest = append(dest, &r.index[i])
	}
	return append(dest, &r.aqi, &r.used, &r.total, &r.dominant, &r.derived, &r.daily)
}

// Figures returns the figures of the row that was scanned last.
func (r *Scanned) Figures() Figures {
	f := Figures{
		At: r.at, Updated: r.updated, Index: r.index, AQI: r.aqi, Dominant: air.Pollutant(r.dominant),
		Used: r.used, Total: r.total, Derived: r.derived, Daily: r.daily,
	}
	for i, amount := range r.amount {
		f.Concentrations[i] = schema.Figure(amount)
	}
	for i, amount := range r.other {
		f.OtherConcentrations[i] = schema.Figure(amount)
	}
	return f
}

// Param returns a server-side query parameter. The SQL text refers to it as {name:Type}.
func Param(name string, value any) any { return clickhouse.Named(name, value) }

// Number returns a server-side query parameter of an integer type.
func Number[T ~int32 | ~uint32 | ~int64](name string, value T) any {
	return clickhouse.Named(name, fmt.Sprint(value))
}
