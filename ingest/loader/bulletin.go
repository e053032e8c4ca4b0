package loader

import (
	"context"
	"fmt"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2"

	"vayu/ingest"
	"vayu/internal/columnstore"
	"vayu/schema/air"
)

var bulletinColumns = []clickhouse.ColumnNameAndType{
	{Name: "day", Type: "String"}, {Name: "name", Type: "String"}, {Name: "city", Type: "String"}, {Name: "state", Type: "String"},
	{Name: "until", Type: "DateTime('UTC')"}, {Name: "aqi", Type: "UInt16"}, {Name: "category", Type: "String"},
	{Name: "prominent", Type: "Array(String)"}, {Name: "stations_used", Type: "UInt16"}, {Name: "stations_total", Type: "UInt16"},
	{Name: "source", Type: "String"}, {Name: "run", Type: "UInt64"},
}

// loadBulletins stores the bulletins of a batch.
func (l *Loader) loadBulletins(ctx context.Context, b *ingest.Batch) error {
	all := b.Bulletins
	if len(all) == 0 {
		return nil
	}
	columns := []any{
		column(all, func(one air.Bulletin) string { return one.Day.String() }),
		column(all, func(one air.Bulletin) string { return one.Name }), column(all, func(one air.Bulletin) string { return one.City }),
		column(all, func(one air.Bulletin) string { return one.State }),
		column(all, func(one air.Bulletin) int64 { return one.Until().Unix() }),
		numbers(all, func(one *air.Bulletin) int { return one.AQI }),
		column(all, func(one air.Bulletin) string { return one.Category }), column(all, prominentOf),
		numbers(all, func(one *air.Bulletin) int { return one.StationsUsed }),
		numbers(all, func(one *air.Bulletin) int { return one.StationsTotal }),
		column(all, func(one air.Bulletin) string { return one.Source }), slices.Repeat([]uint64{b.Run}, len(all)),
	}
	if err := columnstore.Insert(ctx, l.conn, l.database+".bulletin", columnstore.NewToken(), bulletinColumns, columns); err != nil {
		return fmt.Errorf("storing %d bulletins: %w", len(all), err)
	}
	return nil
}

func numbers(all []air.Bulletin, field func(*air.Bulletin) int) []uint16 {
	out := make([]uint16, len(all))
	for i := range all {
		out[i] = uint16(field(&all[i]))
	}
	return out
}

func prominentOf(b air.Bulletin) []string {
	out := make([]string, len(b.Prominent))
	for i, p := range b.Prominent {
		out[i] = p.ID()
	}
	return out
}
