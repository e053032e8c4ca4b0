package columnstore_test

import (
	"testing"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"

	"vayu/internal/columnstore/columnstoretest"
)

// BenchmarkPointQuery reads one city's year out of 10 M rows, like a history query.
func BenchmarkPointQuery(b *testing.B) {
	db := columnstoretest.New(b)
	name := columnstoretest.Database(b, db)
	for _, query := range []string{
		"CREATE TABLE " + name + ".d (city LowCardinality(String), at Date, aqi UInt16) ENGINE = MergeTree ORDER BY (city, at)",
		"INSERT INTO " + name + ".d SELECT 'city-' || toString(number % 1000), toDate('2000-01-01') + intDiv(number, 1000), number % 500 FROM numbers(10000000)",
	} {
		if err := db.Conn().Exec(b.Context(), query); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		var got []struct {
			AQI uint16 `ch:"aqi"`
		}
		err := db.Conn().Select(b.Context(), &got, "SELECT aqi FROM "+name+".d WHERE city = {city:String} AND at < {to:Date}",
			clickhouse.Named("city", "city-7"), clickhouse.Named("to", "2001-01-01"))
		if err != nil || len(got) != 366 {
			b.Fatalf("%d rows, %v", len(got), err)
		}
	}
}
