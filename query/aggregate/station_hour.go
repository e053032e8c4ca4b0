package aggregate

import (
	"context"
	"fmt"
)

// StationHours reads one hour of each station: the latest hour with an AQI or, without such an hour, the latest hour.
// It skips hours before `since` (Unix seconds). The SQL condition `condition` selects stations; "" selects all.
func (t Tables) StationHours(ctx context.Context, since uint32, condition string) (map[string]Figures, error) {
	return t.hoursWith(ctx, since, condition, t.Each)
}

// HoursOf does the same as [Tables.StationHours], for the named stations and for hours of any age.
func (t Tables) HoursOf(ctx context.Context, names []string) (map[string]Figures, error) {
	if len(names) == 0 {
		return nil, nil
	}
	return t.hoursWith(ctx, 0, "station IN {stations:Array(String)}", func(ctx context.Context, dest []any, row func(), query string, args ...any) error {
		return t.EachNamed(ctx, names, dest, row, query, args...)
	})
}

// hoursWith reads hours with the function `read`. The SQL condition may use only key columns: ClickHouse then applies
// it in PREWHERE, so that FINAL merges only the selected rows.
func (t Tables) hoursWith(ctx context.Context, since uint32, condition string,
	read func(context.Context, []any, func(), string, ...any) error,
) (map[string]Figures, error) {
	if condition != "" {
		condition = " AND " + condition
	}
	out := map[string]Figures{}
	var id string
	var row Scanned
	err := read(ctx, row.Into(&id), func() { out[id] = row.Figures() },
		fmt.Sprintf(`SELECT station, %[2]s FROM %[1]s.station_hour FINAL
			PREWHERE at >= toDateTime({since:UInt32}, 'UTC')%[3]s AND (station, at) IN (
				SELECT station, if(countIf(aqi IS NOT NULL) > 0, maxIf(at, aqi IS NOT NULL), max(at))
				FROM %[1]s.station_hour FINAL PREWHERE at >= toDateTime({since:UInt32}, 'UTC')%[3]s GROUP BY station)`,
			t.Database, StationFigures, condition),
		Number("since", since))
	if err != nil {
		return nil, fmt.Errorf("reading station hours: %w", err)
	}
	return out, nil
}
