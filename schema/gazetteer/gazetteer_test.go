package gazetteer_test

import (
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"testing"
	"unicode/utf8"

	"vayu/internal/testing/realdata"
	"vayu/schema/air"
	"vayu/schema/gazetteer"
)

//nolint:gochecknoglobals // a flag of the test binary
var update = flag.Bool("update", false, "write the generated files")

func TestEveryStationsCityIsInTheTable(t *testing.T) {
	t.Parallel()
	for _, row := range readShared(t, "stations.csv") {
		city, state := row["city"], air.CleanState(row["state"])
		name, gotState := gazetteer.Canonical(city, state)
		if len(gazetteer.Lookup(name)) == 0 || gotState != state && name != "Byrnihat" {
			t.Errorf("Canonical(%q, %q) = %q, %q: not a city of the table", city, state, name, gotState)
		}
	}
	for _, row := range readShared(t, "cpcb/city_day.csv") {
		if _, state := gazetteer.Canonical(row["City"], ""); state == "" {
			t.Fatalf("city %q has no state", row["City"])
		}
	}
}

func TestCanonicalResolvesOldNewAndHindiNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ city, state, wantName, wantState string }{
		{"Gurgaon", "", "Gurugram", "Haryana"},
		{"  bangalore ", "", "Bengaluru", "Karnataka"},
		{"दिल्ली", "", "Delhi", "Delhi"},
		{"फ़रीदाबाद", "", "Faridabad", "Haryana"},
		{"New_Delhi", "", "Delhi", "Delhi"},
		{"Pimpri Chinchwad", "", "Pimpri-Chinchwad", "Maharashtra"},
		{"Trichy", "TamilNadu", "Tiruchirappalli", "Tamil Nadu"},
		{"Aurangabad", "Bihar", "Aurangabad", "Bihar"},
		{"Aurangabad (Maharashtra)", "", "Aurangabad", "Maharashtra"},
		{"Chhatrapati Sambhajinagar", "", "Aurangabad", "Maharashtra"},
		{"Aurangabad", "", "Aurangabad", ""},
		{"Atlantis", "Goa", "Atlantis", "Goa"},
		{"Byrnihat", "Assam", "Byrnihat", "Meghalaya"},
		{"Byrnihat", "", "Byrnihat", "Meghalaya"},
		{"Mumbai", "Goa", "Mumbai", "Goa"},
	} {
		t.Run(fmt.Sprintf("%q, %q", c.city, c.state), func(t *testing.T) {
			name, state := gazetteer.Canonical(c.city, c.state)
			if name != c.wantName || state != c.wantState {
				t.Errorf("Canonical(%q, %q) = %q, %q, want %q, %q", c.city, c.state, name, state, c.wantName, c.wantState)
			}
		})
	}
}

func TestOnlyKnownHomonymsShareAName(t *testing.T) {
	t.Parallel()
	known := map[string]bool{"aurangabad": true, gazetteer.Key("औरंगाबाद"): true}
	for _, c := range gazetteer.Cities() {
		for _, key := range c.Keys() {
			if gazetteer.Homonymous(key) && !known[key] {
				t.Errorf("%q of %s, %s names several cities", key, c.Name, c.State)
			}
		}
	}
}

func FuzzKey(f *testing.F) {
	for _, s := range []string{"Delhi", "दिल्ली", "São-Tomé (X)", "\xff", "a\u0301", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		key := gazetteer.Key(s)
		if again := gazetteer.Key(key); utf8.ValidString(s) && len(s) < 100 && gazetteer.Key(again) != again {
			t.Errorf("keys of %q do not settle: %q, %q", s, key, again)
		}
	})
}

func readShared(t *testing.T, name string) []map[string]string {
	t.Helper()
	file, err := os.Open(realdata.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := make([]map[string]string, 0, len(rows))
	for _, row := range rows[1:] {
		m := map[string]string{}
		for i, field := range row {
			m[rows[0][i]] = field
		}
		out = append(out, m)
	}
	return out
}
