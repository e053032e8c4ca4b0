package loader_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/google/go-cmp/cmp"

	"vayu/schema/air"
)

// enum returns the Enum8 type whose numbers are those of Go's constants.
func enum[T interface {
	~uint8
	fmt.Stringer
}](values ...T) string {
	var parts []string
	for _, v := range values {
		parts = append(parts, fmt.Sprintf("'%s' = %d", v, uint8(v)))
	}
	return "Enum8(" + strings.Join(parts, ", ") + ")"
}

// clickhouseType returns the column type for a field of a batch. Names are
// LowCardinality; numbers of constants are enums with the same numbers.
func clickhouseType(t *testing.T, field arrow.Field) string {
	t.Helper()
	switch field.Type.ID() {
	case arrow.STRING:
		return "LowCardinality(String)"
	case arrow.UINT16:
		return "UInt16"
	case arrow.FLOAT64:
		return "Float64"
	case arrow.TIMESTAMP:
		if unit := field.Type.(*arrow.TimestampType); unit.Unit == arrow.Second {
			return "DateTime('" + unit.TimeZone + "')"
		}
	case arrow.UINT8: // a parameter; its identifier is stored
		return "LowCardinality(String)"
	case arrow.INT8:
		switch field.Name {
		case "kind":
			return enum(air.Concentration, air.SubIndex)
		case "flag":
			return enum(air.Plain, air.Stuck, air.Clipped)
		}
	}
	t.Errorf("no type of ClickHouse is agreed for column %q, %s", field.Name, field.Type)
	return ""
}

func tableColumns(t *testing.T, table string) map[string]string {
	t.Helper()
	conn, name := database(t)
	rows, err := conn.Query(t.Context(), "SELECT name, type, comment FROM system.columns WHERE database = '"+name+"' AND table = '"+table+"'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns := make(map[string]string)
	for rows.Next() {
		var column, kind, comment string
		if err := rows.Scan(&column, &kind, &comment); err != nil {
			t.Fatal(err)
		}
		if comment == "" {
			t.Errorf("%s.%s has no comment", table, column)
		}
		columns[column] = kind
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return columns
}

func TestReadingColumnsAgreeWithTheTable(t *testing.T) {
	t.Parallel()
	got := tableColumns(t, "reading")
	if got["ingested_at"] != "DateTime64(3, 'UTC')" {
		t.Errorf("ingested_at is %q", got["ingested_at"])
	}
	delete(got, "ingested_at") // the table fills it
	delete(got, "removed")     // and this, but for corrections to missing
	delete(got, "run")         // the loader fills it
	want := make(map[string]string)
	for _, field := range air.ReadingColumns.Fields() {
		want[field.Name] = clickhouseType(t, field)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table reading (-air.ReadingColumns +DDL):\n%s", diff)
	}
}

func TestStationKindsAgreeWithTheTable(t *testing.T) {
	t.Parallel()
	if got, want := tableColumns(t, "station")["kind"], enum(air.Reference, air.Sensor, air.CityMean); got != want {
		t.Errorf("station.kind is %s, want %s", got, want)
	}
}
