package views_test

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/columnstoretest"
	"vayu/schema/migrations/clickhouse"
	"vayu/schema/views"
)

func TestMain(m *testing.M) { columnstoretest.Main(m) }

// migrated returns an engine and the name of a database with all views.
func migrated(t *testing.T) (*columnstore.DB, string) {
	t.Helper()
	db := columnstoretest.New(t)
	return db, columnstoretest.Migrated(t, db)
}

// text returns the rows of a query, whose one column is a string.
func text(t *testing.T, db *columnstore.DB, query string) (all []string) {
	t.Helper()
	rows, err := db.Conn().Query(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		all = append(all, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return all
}

// Every view can be read while it is empty, and it and all of its columns have a comment.
func TestViewsHaveComments(t *testing.T) {
	t.Parallel()
	db, name := migrated(t)
	if got := text(t, db, "SELECT name FROM system.tables WHERE engine = 'View' AND comment != '' AND name NOT LIKE 'forecast%' AND database = '"+name+"'"); len(got) != len(views.Names) {
		t.Errorf("views with a comment: %q, want %d", got, len(views.Names))
	}
	if got := text(t, db, "SELECT table || '.' || name FROM system.columns WHERE comment = '' AND database = '"+name+"' AND table IN ('"+strings.Join(views.Names[:], "', '")+"')"); len(got) > 0 {
		t.Errorf("columns without a comment: %q", got)
	}
	for _, view := range views.Names {
		// Rows have the declared types. any() has no LowCardinality.
		declared := text(t, db, "SELECT name || ' ' || replaceOne(type, 'LowCardinality(String)', 'String') FROM system.columns WHERE database = '"+name+"' AND table = '"+view+"' ORDER BY position")
		var converted []string
		for _, column := range declared {
			column, _, _ = strings.Cut(column, " ")
			converted = append(converted, text(t, db, "SELECT '"+column+" ' || toTypeName(any("+column+")) FROM "+name+"."+view)...)
		}
		if diff := cmp.Diff(declared, converted); diff != "" {
			t.Errorf("%s (-declared +real):\n%s", view, diff)
		}
		rows := text(t, db, "SELECT toString(count()) FROM (SELECT * FROM "+name+"."+view+")")
		if want := map[bool]string{true: fmt.Sprint(len(views.Limits)), false: "0"}[view == "standard"]; rows[0] != want {
			t.Errorf("%s has %s rows, want %s", view, rows[0], want)
		}
	}
}

var fingerprint = regexp.MustCompile(`(?m)^-- fingerprint ([0-9a-f]+)$`)

// A changed view needs a new migration, so that existing databases get it.
func TestMigrationHasTheFingerprintOfTheViews(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(clickhouse.Files, views.Migration+"_*.sql")
	if err != nil || len(files) != 1 {
		t.Fatalf("migrations %s: %q, %v", views.Migration, files, err)
	}
	file, err := fs.ReadFile(clickhouse.Files, files[0])
	if err != nil {
		t.Fatal(err)
	}
	want, err := views.Fingerprint()
	if err != nil {
		t.Fatal(err)
	}
	if got := fingerprint.FindStringSubmatch(string(file)); len(got) != 2 || got[1] != want {
		t.Errorf("%s has the fingerprint %q, want %q: write a new migration (before its release, edit it)", files[0], got, want)
	}
	if !strings.Contains(string(file), `Statements "`+views.Migration+`"`) {
		t.Errorf("%s does not create the views of migration %s", files[0], views.Migration)
	}
}

// Only the last migration creates views. Earlier ones may run when the tables lack columns.
func TestEarlierMigrationsCreateNoViews(t *testing.T) {
	t.Parallel()
	got, err := views.Set{}.Statements("0001", "vayu", "")
	if err != nil || got != "" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	db, name := migrated(t)
	for query, want := range map[string]string{
		"arrayMap(x -> grap_band(x), [NULL, 0, 200, 201, 300, 301, 400, 401, 450, 451, 500])": "[NULL,'none','none','I','I','II','II','III','III','IV','IV']",
		"arrayMap(m -> india_season(makeDate(2024, m, 1)), range(1, 13))": "['winter','winter','pre-monsoon','pre-monsoon','pre-monsoon','monsoon'," +
			"'monsoon','monsoon','monsoon','post-monsoon','post-monsoon','post-monsoon']",
		"[parameter_unit('pm25'), parameter_unit('co'), parameter_unit('nothing')]":                                                          "['µg/m³','mg/m³','']",
		"[naaqs_limit('pm25', '24h'), naaqs_limit('co', '8h'), naaqs_limit('pm25', '8h'), who_limit('pm25', 'year'), who_limit('o3', '8h')]": "[60,2,NULL,5,100]",
	} {
		if got := text(t, db, "SELECT toString("+query+")"); got[0] != want {
			t.Errorf("%s = %s, want %s", query, got[0], want)
		}
	}
	// The view has the limits of the functions.
	if got := text(t, db, "SELECT parameter FROM "+name+".standard WHERE value IS DISTINCT FROM if(standard = 'naaqs_2009', naaqs_limit(parameter, period), who_limit(parameter, period)) OR unit = '' OR source = ''"); len(got) > 0 {
		t.Errorf("limits that differ: %q", got)
	}
}

// The limits as their documents have them.
func TestStandards(t *testing.T) {
	t.Parallel()
	db, name := migrated(t)
	want := []string{
		"naaqs_2009: benzene year 5; co 1h 4, 8h 2; nh3 24h 400, year 100; no2 24h 80, year 40; o3 1h 180, 8h 100; pb 24h 1, year 0.5; pm10 24h 100, year 60; pm25 24h 60, year 40; so2 24h 80, year 50",
		"who_2021: co 1h 35, 24h 4, 8h 10; no2 1h 200, 24h 25, year 10; o3 8h 100; pm10 24h 45, year 15; pm25 24h 15, year 5; so2 24h 40",
	}
	got := text(t, db, `SELECT standard || ': ' || arrayStringConcat(arraySort(groupArray(line)), '; ') FROM
		(SELECT standard, parameter || ' ' || arrayStringConcat(arraySort(groupArray(period || ' ' || toString(value))), ', ') AS line FROM `+name+`.standard GROUP BY standard, parameter)
		GROUP BY standard ORDER BY standard`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
