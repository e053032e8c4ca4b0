package columnar_test

import (
	"testing"
	"time"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/go-cmp/cmp"

	"vayu/internal/columnar/columnartest"
)

func TestMain(m *testing.M) { columnartest.Main(m) }

func TestTypesRoundTrip(t *testing.T) {
	t.Parallel()
	db := columnartest.New(t)
	name := columnartest.Database(t, db)
	conn, ctx := db.Conn(), t.Context()
	if err := conn.Exec(ctx, `CREATE TABLE `+name+`.r (
		station LowCardinality(String), pollutant Enum8('pm25' = 1, 'pm10' = 2), value Nullable(Float64),
		at DateTime('UTC') CODEC(Delta, ZSTD), ingested DateTime64(3, 'UTC'), tags Array(String)
	) ENGINE = ReplacingMergeTree(ingested) ORDER BY (station, pollutant, at)`); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	milli := at.Add(7 * time.Millisecond)
	half := 0.5
	batch, err := conn.PrepareBatch(ctx, "INSERT INTO "+name+".r")
	if err != nil {
		t.Fatal(err)
	}
	for i, values := range []any{
		[]string{"a", "b"}, []string{"pm25", "pm10"}, []*float64{&half, nil}, []time.Time{at, at}, []time.Time{milli, milli}, [][]string{{"x", "it's"}, {}},
	} {
		if err := batch.Column(i).Append(values); err != nil {
			t.Fatal(err)
		}
	}
	if err := batch.Send(); err != nil {
		t.Fatal(err)
	}
	type row struct {
		Station   string    `ch:"station"`
		Pollutant string    `ch:"pollutant"`
		Value     *float64  `ch:"value"`
		At        time.Time `ch:"at"`
		Ingested  time.Time `ch:"ingested"`
		Tags      []string  `ch:"tags"`
	}
	var got []row
	if err := conn.Select(ctx, &got, "SELECT * FROM "+name+".r WHERE station IN {s:Array(String)} AND at >= {from:DateTime} ORDER BY station",
		clickhouse.Named("s", []string{"a", "b", "it's"}), clickhouse.DateNamed("from", at, clickhouse.Seconds)); err != nil {
		t.Fatal(err)
	}
	want := []row{{"a", "pm25", &half, at, milli, []string{"x", "it's"}}, {"b", "pm10", nil, at, milli, []string{}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
