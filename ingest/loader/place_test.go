package loader_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/go-cmp/cmp"

	"vayu/ingest"
	"vayu/ingest/cpcbformat"
	"vayu/ingest/loader"
	"vayu/schema/air"
)

// lines runs a query that returns one text per row.
func lines(t *testing.T, conn driver.Conn, query string) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		all = append(all, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// load stores one reading of a station, at an hour before now.
func load(t *testing.T, l *loader.Loader, source string, s air.Station, hoursAgo int) ingest.Rejections {
	t.Helper()
	b := batchOf(t, source, s, concentration(air.PM25, now.Add(-time.Duration(hoursAgo)*time.Hour), 50))
	if err := l.Load(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return b.Rejected
}

const (
	stationPlaces = "SELECT concat(id, ' ', city, ', ', state, ' ', toString(latitude), ' ', position_source, ' ', same_as) FROM %s.station FINAL ORDER BY id"
	changes       = "SELECT concat(station, ' ', field, ' ', replaceAll(before, '\t', '/'), ' -> ', replaceAll(after, '\t', '/'), ' ', source, ' (', reason, ')') FROM %s.station_change ORDER BY at, field"
	storedUnder   = "SELECT DISTINCT toString(station) FROM %s.reading ORDER BY 1"
)

func TestPositionOfBetterSourceWins(t *testing.T) {
	t.Parallel()
	conn, name := database(t)
	l := loader.New(conn, name)
	at := func(lat float64) air.Station {
		return cpcbformat.Station("Muradpur, Patna - BSPCB", "Patna", "Bihar", lat, 85.14)
	}
	for i, step := range []struct {
		source  string
		lat     float64
		refused int
	}{
		{"import", 25.86, 0},  // a geocoded list, 27 km off
		{"import", 25.61, 1},  // another file
		{"cpcb", 25.62, 0},    // the feed knows better, and is older
		{"datagov", 25.75, 1}, // the mirror does not
		{"import", 25.623, 0}, // neither does a file that is close
		{"cpcb", 25.6201, 0},
		{"cpcb", 25.9, 1},
	} {
		rejected := load(t, l, step.source, at(step.lat), 10-i*(1-2*(i%2)))
		if got := rejected[ingest.StationMoved]; got != step.refused {
			t.Errorf("step %d: %d positions refused, want %d", i, got, step.refused)
		}
	}
	if diff := cmp.Diff([]string{"cpcb-muradpur-patna-bspcb Patna, Bihar 25.62 cpcb "}, lines(t, conn, fmt.Sprintf(stationPlaces, name))); diff != "" {
		t.Errorf("station (-want +got):\n%s", diff)
	}
	want := []string{"cpcb-muradpur-patna-bspcb position 25.86,85.14 -> 25.62,85.14 cpcb (better source)"}
	if diff := cmp.Diff(want, lines(t, conn, fmt.Sprintf(changes, name))); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func TestStationWithoutCityGetsItFromPosition(t *testing.T) {
	t.Parallel()
	conn, name := database(t)
	l := loader.New(conn, name)
	sensor := air.Station{ID: "sensor-1", Name: "Balcony", Kind: air.Sensor, Latitude: 28.63, Longitude: 77.22}
	load(t, l, "import", sensor, 5)
	sensor.Latitude, sensor.Longitude = 18.52, 73.86
	if rejected := load(t, l, "sensorcommunity", sensor, 4); len(rejected) > 0 {
		t.Errorf("rejected %v", rejected)
	}
	if diff := cmp.Diff([]string{"sensor-1 Pune, Maharashtra 18.52 sensorcommunity "}, lines(t, conn, fmt.Sprintf(stationPlaces, name))); diff != "" {
		t.Errorf("station (-want +got):\n%s", diff)
	}
	want := []string{
		"sensor-1 city Delhi/Delhi -> Pune/Maharashtra sensorcommunity (position)",
		"sensor-1 position 28.63,77.22 -> 18.52,73.86 sensorcommunity (better source)",
	}
	if diff := cmp.Diff(want, lines(t, conn, fmt.Sprintf(changes, name))); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

// TestSpellingsOfOneStationAreAliases covers the spellings in copies of CPCB's
// data.
func TestSpellingsOfOneStationAreAliases(t *testing.T) {
	t.Parallel()
	conn, name := database(t)
	l := loader.New(conn, name)
	const official = "R K Puram, Delhi - DPCC"
	load(t, l, "cpcb", cpcbformat.Station(official, "Delhi", "Delhi", 28.563262, 77.186937), 9)
	for i, spelled := range []string{"RK Puram, Delhi - DPCC", "R K Puram,Delhi-DPCC", "R K Puram - DPCC", "R K Puram", "DPCC R K Puram, Delhi"} {
		s := cpcbformat.Station(spelled, "Delhi", "", 28.563262, 77.186937)
		if _, _, ok := cpcbformat.Split(spelled); !ok {
			s.ID = air.StationID("openaq", spelled)
		}
		load(t, l, "import", s, 8-i)
		load(t, loader.New(conn, name), "import", s, 3) // of another process
	}
	// Neighbouring stations are different ones.
	load(t, l, "import", cpcbformat.Station("R K Puram, Delhi - IITM", "Delhi", "", 28.563262, 77.186937), 3)
	load(t, l, "import", cpcbformat.Station("R K Puram Sector 4, Delhi - DPCC", "Delhi", "", 28.563262, 77.186937), 3)
	want := []string{"cpcb-r-k-puram-delhi-dpcc", "cpcb-r-k-puram-delhi-iitm", "cpcb-r-k-puram-sector-4-delhi-dpcc"}
	if diff := cmp.Diff(want, lines(t, conn, fmt.Sprintf(storedUnder, name))); diff != "" {
		t.Errorf("stations of readings (-want +got):\n%s", diff)
	}
	if got := lines(t, conn, "SELECT name FROM "+name+".station FINAL WHERE id = 'cpcb-r-k-puram-delhi-dpcc'"); !cmp.Equal(got, []string{official}) {
		t.Errorf("the station is called %v", got)
	}
	aliases, err := loader.Aliases(t.Context(), conn, name)
	if err != nil || len(aliases) != 5 {
		t.Errorf("%d aliases %v, %v, want 5", len(aliases), aliases, err)
	}
}

func TestTwinRefersToHigherPriority(t *testing.T) {
	t.Parallel()
	conn, name := database(t)
	l := loader.New(conn, name)
	copied := air.Station{ID: "openaq-8118", Name: "R K Puram", Kind: air.Reference, Latitude: 28.56326, Longitude: 77.18693}
	load(t, l, "openaq", copied, 2)
	load(t, l, "cpcb", cpcbformat.Station("R K Puram, Delhi - DPCC", "Delhi", "Delhi", 28.563262, 77.186937), 3)
	beside := air.Station{ID: "airgradient-1", Name: "R K Puram", Kind: air.Sensor, Latitude: 28.56326, Longitude: 77.18693}
	load(t, l, "airgradient", beside, 2)
	want := []string{
		"airgradient-1 Delhi, Delhi 28.56326 airgradient ",
		"cpcb-r-k-puram-delhi-dpcc Delhi, Delhi 28.563262 cpcb ",
		"openaq-8118 Delhi, Delhi 28.56326 openaq cpcb-r-k-puram-delhi-dpcc",
	}
	if diff := cmp.Diff(want, lines(t, conn, fmt.Sprintf(stationPlaces, name))); diff != "" {
		t.Errorf("stations (-want +got):\n%s", diff)
	}
}

// TestRulesApplyToStoredStations checks that stations of an older program get the
// current rules.
func TestRulesApplyToStoredStations(t *testing.T) {
	t.Parallel()
	conn, name := database(t)
	err := conn.Exec(t.Context(), "INSERT INTO "+name+`.station (id, source, name, city, state, latitude, longitude, kind, first_seen, last_seen) VALUES
		('cpcb-a', 'cpcb', 'Rajbagh, Srinagar - JKSPCB', 'Srinagar', 'Jammu and Kashmir', 34.066, 74.8198, 'reference', 10, 20),
		('cpcb-b', 'cpcb', 'Rajbagh, Srinagar - JKPCC', 'Srinagar', 'Jammu and Kashmir', 34.066, 74.8198, 'reference', 30, 40),
		('cpcb-c', 'cpcb', 'Academy, Byrnihat - PCBA', 'Byrnihat', 'Assam', 26.07, 91.87, 'reference', 10, 20),
		('openaq-d', 'import', 'Somewhere', '', '', 28.63, 77.22, 'reference', 10, 20)`)
	if err != nil {
		t.Fatal(err)
	}
	load(t, loader.New(conn, name), "test", station("e"), 1)
	want := []string{
		"cpcb-a Srinagar, Jammu and Kashmir 34.066  cpcb-b", "cpcb-b Srinagar, Jammu and Kashmir 34.066  ",
		"cpcb-c Byrnihat, Meghalaya 26.07  ", "e Pune, Maharashtra 18.52 test ", "openaq-d Delhi, Delhi 28.63  ",
	}
	if diff := cmp.Diff(want, lines(t, conn, fmt.Sprintf(stationPlaces, name))); diff != "" {
		t.Errorf("stations (-want +got):\n%s", diff)
	}
	want = []string{
		"cpcb-c city Byrnihat/Assam -> Byrnihat/Meghalaya cpcb (names)", "openaq-d city / -> Delhi/Delhi import (position)",
		"cpcb-a same_as  -> cpcb-b cpcb (renamed)",
	}
	if diff := cmp.Diff(want, lines(t, conn, fmt.Sprintf(changes, name))); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func TestMergeMakesOneStation(t *testing.T) {
	t.Parallel()
	conn, name := database(t)
	l := loader.New(conn, name)
	a, b := station("a"), station("b")
	load(t, l, "test", a, 5)
	load(t, l, "test", a, 4)
	load(t, l, "test", b, 4)
	load(t, l, "test", b, 3)
	for range 2 { // a merge is repeated after an error
		if err := l.Merge(t.Context(), "a", "b", "same cabin", "asha"); err != nil {
			t.Fatal(err)
		}
	}
	load(t, l, "test", a, 2)
	if got := count(t, conn, "SELECT count() FROM "+name+".reading FINAL WHERE station = 'b'"); got != 4 {
		t.Errorf("%d readings of the station, want 4", got)
	}
	if got := count(t, conn, "SELECT count() FROM "+name+".reading FINAL WHERE station = 'a'"); got != 2 {
		t.Errorf("%d readings of the alias, want the 2 from before", got)
	}
	if err := l.Merge(t.Context(), "c", "b", "", ""); err == nil {
		t.Error("a station that does not exist was merged")
	}
	if err := l.Merge(t.Context(), "b", "a", "", ""); err == nil {
		t.Error("a station was merged into itself")
	}
	aliases, err := loader.Aliases(t.Context(), conn, name)
	if err != nil || len(aliases) != 1 || aliases[0].Reason != "same cabin" || aliases[0].Actor != "asha" {
		t.Errorf("aliases %+v, %v", aliases, err)
	}
}

// TestServiceCompletesTheMergeOfAnotherProcess checks that a service copies the
// readings that it stored before it read the alias.
func TestServiceCompletesTheMergeOfAnotherProcess(t *testing.T) {
	t.Parallel()
	conn, name := database(t)
	service := loader.New(conn, name)
	a, b := station("a"), station("b")
	load(t, service, "test", a, 5)
	load(t, service, "test", b, 5)
	if err := loader.New(conn, name).Merge(t.Context(), "a", "b", "same cabin", "asha"); err != nil {
		t.Fatal(err)
	}
	load(t, service, "test", a, 4)
	service.Age()
	load(t, service, "test", a, 3)
	if got := count(t, conn, "SELECT count() FROM "+name+".reading FINAL WHERE station = 'b'"); got != 3 {
		t.Errorf("the station has %d readings, want 3", got)
	}
}

// TestMergeSkipsWithdrawnReadings checks that withdrawn readings of an alias do
// not return under its station.
func TestMergeSkipsWithdrawnReadings(t *testing.T) {
	t.Parallel()
	conn, name := database(t)
	l := loader.New(conn, name)
	load(t, l, "test", station("a"), 5)
	load(t, l, "test", station("a"), 4)
	load(t, l, "test", station("b"), 3)
	if err := conn.Exec(t.Context(), "INSERT INTO "+name+".withdrawal (id, station, parameter, from_at, to_at) SELECT 'wdr_1', 'a', '', max(at) - INTERVAL 1 SECOND, max(at) FROM "+name+".reading WHERE station = 'a'"); err != nil {
		t.Fatal(err)
	}
	if err := l.Merge(t.Context(), "a", "b", "same cabin", "asha"); err != nil {
		t.Fatal(err)
	}
	if got := count(t, conn, "SELECT count() FROM "+name+".reading FINAL WHERE station = 'b'"); got != 2 {
		t.Errorf("the station has %d readings, want its own and the one that counts", got)
	}
}
