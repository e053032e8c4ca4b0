package station

import (
	"cmp"
	"encoding/csv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"vayu/internal/testing/realdata"
	"vayu/schema/air"
	"vayu/schema/gazetteer"
)

func TestTitlesAreFolded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, city string
		want       title
	}{
		{"R K Puram, Delhi - DPCC", "Delhi", title{place: "rkpuram", agency: "dpcc"}},
		{"RK Puram, Delhi - DPCC", "Delhi", title{place: "rkpuram", agency: "dpcc"}},
		{"R K Puram,Delhi-DPCC", "Delhi", title{place: "rkpuram", agency: "dpcc"}},
		{"R.K. Puram, New Delhi - DPCC", "Delhi", title{place: "rkpuram", agency: "dpcc"}},
		{"R K Puram - DPCC", "Delhi", title{place: "rkpuram", agency: "dpcc"}},
		{"R K Puram", "Delhi", title{place: "rkpuram"}},
		{"R K Puram Delhi", "Delhi", title{place: "rkpuram"}},
		{"DPCC R K Puram, Delhi", "Delhi", title{place: "rkpuram", agency: "dpcc"}},
		{"IMD Lodhi Road, Delhi - IITM", "Delhi", title{place: "imdlodhiroad", bare: "lodhiroad", agency: "iitm"}},
		{"Lodhi Road, Delhi - IMD", "Delhi", title{place: "lodhiroad", agency: "imd"}},
		{"General Hospital, Mandikhera(Nuh) - HSPCB", "Mandikhera", title{place: "generalhospital", agency: "hspcb"}},
		{"Charitra Van, Buxar - BSPCB (Formerly known as Central Jail)", "Buxar", title{place: "charitravan", agency: "bspcb", former: "centraljail"}},
		{"Toll Gate, Tirumala - APPCB (Formerly known as Tirumala, Tirupati - APPCB)", "Tirumala", title{place: "tollgate", agency: "appcb", former: "tirumalatirupati"}},
		{"Sector - 62, Noida - IMD", "Noida", title{place: "sector62", agency: "imd"}},
		{"Delhi", "Delhi", title{place: "delhi"}},
		{"", "", title{}},
	} {
		t.Run(strconv.Quote(c.name), func(t *testing.T) {
			if c.want.bare == "" {
				c.want.bare = c.want.place
			}
			if d := diff.Diff(c.want, parseTitle(c.name, c.city), diff.AllowUnexported(title{})); d != "" {
				t.Errorf("title (-want +got):\n%s", d)
			}
		})
	}
}

// realStations are the 603 stations in downloads of data.gov.in.
func realStations(t *testing.T) []air.Station {
	t.Helper()
	file, err := os.Open(realdata.Path(t, "stations.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var all []air.Station
	for _, r := range rows[1:] {
		s := air.Station{ID: air.StationID("cpcb", r[0]), Name: r[0], Kind: air.Reference, Source: "import"}
		s.City, s.State = gazetteer.Canonical(r[1], r[2])
		s.Latitude, _ = strconv.ParseFloat(r[3], 64)
		s.Longitude, _ = strconv.ParseFloat(r[4], 64)
		if s.Latitude == 0 || s.Longitude == 0 {
			s.Latitude, s.Longitude = 0, 0
		}
		all = append(all, s)
	}
	return all
}

// TestRealStationsAreMatched checks that the rule matches renamed CPCB stations
// and no different ones. The list was checked by hand: each pair has one position,
// one agency or its successor, and one place or its earlier name.
func TestRealStationsAreMatched(t *testing.T) {
	t.Parallel()
	b := NewCache(nil)
	for _, s := range realStations(t) {
		b.Describe(s)
	}
	var got []string
	for _, a := range b.Aliases {
		got = append(got, strings.TrimPrefix(a.Alias, "cpcb-")+" = "+strings.TrimPrefix(a.Station, "cpcb-")+" ("+a.Reason+")")
	}
	for _, s := range b.Known {
		if s.SameAs != "" {
			got = append(got, strings.TrimPrefix(s.ID, "cpcb-")+" -> "+strings.TrimPrefix(s.SameAs, "cpcb-"))
		}
	}
	slices.Sort(got)
	want := []string{
		"aya-nagar-delhi-imd = aya-nagar-delhi-iitm (renamed)",
		"burari-crossing-delhi-imd = burari-crossing-delhi-iitm (renamed)",
		"charitra-van-buxar-bspcb-formerly-known-as-central-jail = charitra-van-buxar-bspcb (renamed)",
		"crri-mathura-road-delhi-imd = crri-mathura-road-delhi-iitm (renamed)",
		"general-hospital-mandikhera-nuh-hspcb = general-hospital-mandikhera-hspcb (spelling)",
		"igi-airport-t3-delhi-imd = igi-airport-t3-delhi-iitm (renamed)",
		"lodhi-road-delhi-imd = imd-lodhi-road-delhi-iitm (renamed)",
		"lohiyanagar-begusarai-bspcb-formerly-known-as-drcc-anandpur = lohiyanagar-begusarai-bspcb (renamed)",
		"nise-gwal-pahari-gurugram-imd = nise-gwal-pahari-gurugram-iitm (renamed)",
		"north-campus-du-delhi-imd = north-campus-du-delhi-iitm (renamed)",
		"pusa-delhi-imd = pusa-delhi-iitm (renamed)",
		"pwd-junction-kohima-npcb = pwd-juction-kohima-npcb (spelling)",
		"rajbagh-srinagar-jkspcb = rajbagh-srinagar-jkpcc (renamed)",
		"sector-62-noida-imd = sector-62-noida-iitm (renamed)",
		"shri-shivaji-science-college-amravati-mpcb = shri-shivaji-science-college-amaravati-mpcb (spelling)",
		"toll-gate-tirumala-appcb-formerly-known-as-tirumala-tirupati-appcb = toll-gate-tirumala-appcb (renamed)",
		"womens-college-city-center-durgapur-wbpcb -> sidhu-kanhu-indoor-stadium-durgapur-wbpcb",
		"womens-college-city-center-durgapur-wbpcb-formerly-known-as-sidhu-kanhu-indoor-stadium = sidhu-kanhu-indoor-stadium-durgapur-wbpcb (renamed)",
	}
	if d := diff.Diff(want, got); d != "" {
		t.Errorf("aliases (-want +got):\n%s", d)
	}
}

// TestMatchingIsIndependentOfOrder checks that the matches do not depend on the
// order of the names.
func TestMatchingIsIndependentOfOrder(t *testing.T) {
	t.Parallel()
	all := realStations(t)
	var first map[string]string
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		b := NewCache(nil)
		for _, s := range all {
			b.Describe(s)
		}
		groups := map[string]string{} // id -> the least id of its group
		least := map[string]string{}
		for _, s := range all {
			root := b.root(s.ID)
			if least[root] == "" || s.ID < least[root] {
				least[root] = s.ID
			}
		}
		for _, s := range all {
			groups[s.ID] = least[b.root(s.ID)]
		}
		if first == nil {
			first = groups
		} else if d := diff.Diff(first, groups); d != "" {
			t.Fatalf("order %d (-first +this):\n%s", seed, d)
		}
	}
}

// root returns the id under which a station counts.
func (b *Cache) root(id string) string {
	if a, ok := b.Aliases[id]; ok {
		id = a.Station
	}
	return cmp.Or(b.Known[id].SameAs, id)
}

// TestStationsOfOneHourAreNotMatched checks that two stations which CPCB lists in
// one hour stay separate.
func TestStationsOfOneHourAreNotMatched(t *testing.T) {
	t.Parallel()
	b := NewCache(nil)
	for _, s := range realStations(t) {
		b.Describe(s)
	}
	paths, err := filepath.Glob(filepath.Join(realdata.Path(t, "datagov"), "*.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Fatal("no downloads")
	}
	for _, path := range paths {
		seen := map[string]string{}
		for _, name := range namesIn(t, path) {
			root := b.root(air.StationID("cpcb", air.CleanPlace(name)))
			if other, ok := seen[root]; ok && other != name {
				t.Errorf("%s: %q and %q are listed together", filepath.Base(path), other, name)
			}
			seen[root] = name
		}
		if len(seen) < 50 {
			t.Errorf("%s: only %d stations", filepath.Base(path), len(seen))
		}
	}
}

// namesIn returns the column "station" of a file.
func namesIn(t *testing.T, path string) []string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := slices.Index(rows[0], "station")
	var names []string
	for _, r := range rows[1:] {
		names = append(names, r[column])
	}
	return names
}

// A published station of an account is never linked to a station of others at its place.
func TestOwnStationIsNotLinked(t *testing.T) {
	t.Parallel()
	b := NewCache(nil)
	sensor := air.Station{Name: "Gate sensor", City: "Delhi", State: "Delhi", Latitude: 28.63151, Longitude: 77.21672, Kind: air.Sensor}
	for _, id := range []string{"purpleair-7", air.OwnStationID("acc_1", "gate"), air.OwnStationID("acc_2", "gate")} {
		s := sensor
		s.ID = id
		b.Describe(s)
	}
	for id, s := range b.Known {
		if s.SameAs != "" {
			t.Errorf("%s is linked to %s", id, s.SameAs)
		}
	}
	if n := len(b.Known); n != 3 {
		t.Errorf("%d stations are known, want 3", n)
	}
}
