package places_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/query/places"
)

// named are the places of the tests.
var named = []places.Named{
	{Names: []string{"Delhi", "New Delhi", "दिल्ली"}, Around: []string{"Delhi"}},
	{Names: []string{"Bengaluru", "Bangalore", "ಬೆಂಗಳೂರು"}, Around: []string{"Karnataka"}},
	{Names: []string{"Thiruvananthapuram", "തിരുവനന്തപുരം"}, Around: []string{"Kerala"}},
	{Names: []string{"Navi Mumbai"}, Around: []string{"Maharashtra"}},
	{Names: []string{"Mumbai", "Bombay", "मुंबई"}, Around: []string{"Maharashtra"}},
	{Names: []string{"Karnataka"}},
	{Names: []string{"Anand Vihar, Delhi - DPCC"}, Around: []string{"Delhi"}},
	{Names: []string{"Sector-62, Noida"}, Around: []string{"Noida"}},
	{Names: []string{"Faridabad", "फ़रीदाबाद"}},
}

func TestSearch(t *testing.T) {
	t.Parallel()
	s := places.NewSearch(named)
	for text, want := range map[string]string{
		"delhi":              "Delhi|Anand Vihar, Delhi - DPCC",
		"new delhi":          "Delhi",
		"newdelhi":           "Delhi",
		"dehli":              "Delhi|Anand Vihar, Delhi - DPCC",
		"del":                "Delhi|Anand Vihar, Delhi - DPCC",
		"Banglore":           "Bengaluru",
		"bengalu":            "Bengaluru",
		"bengolu":            "Bengaluru",
		"Bengaluru Karnatka": "Bengaluru",
		"karnataka":          "Karnataka|Bengaluru",
		"Trivandrum":         "",
		"thiruvanantpuram":   "Thiruvananthapuram",
		"mumbai":             "Mumbai|Navi Mumbai",
		"navimumbai":         "Navi Mumbai",
		"Na vi mumbai":       "Navi Mumbai",
		"anand vihar":        "Anand Vihar, Delhi - DPCC",
		"vihar anand":        "Anand Vihar, Delhi - DPCC",
		"anandvihar":         "Anand Vihar, Delhi - DPCC",
		"sector 62":          "Sector-62, Noida",
		"sector 63":          "",
		"दिल्ली":             "Delhi|Anand Vihar, Delhi - DPCC",
		"दिल्लि":             "Delhi|Anand Vihar, Delhi - DPCC", // a wrong vowel sign
		"फरीदाबाद":           "Faridabad",
		"ಬೆಂಗಳೂರು":           "Bengaluru",
		"ಬೆಂಗಳೂ":             "Bengaluru",
		"തിരുവനന്തപുര":       "Thiruvananthapuram",
		"x":                  "",
		"qqqqqq":             "",
		"delhi delhi delhi delhi delhi delhi delhi delhi delhi": "",
		"...": "",
		"":    "",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, i := range s.Find(text, 5) {
				got = append(got, named[i].Names[0])
			}
			if diff := cmp.Diff(want, strings.Join(got, "|")); diff != "" {
				t.Errorf("places (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSearchHasALimit(t *testing.T) {
	t.Parallel()
	s := places.NewSearch(named)
	if got := len(s.Find("delhi", 1)); got != 1 {
		t.Errorf("got %d places, want 1", got)
	}
}

// Any text finds only places of the search, at most the limit.
func FuzzSearch(f *testing.F) {
	for _, text := range []string{"delhi", "दिल्ली", "new delhi", "\xff", strings.Repeat("ab ", 60), "a\u200db", "१२"} {
		f.Add(text)
	}
	s := places.NewSearch(named)
	f.Fuzz(func(t *testing.T, text string) {
		seen := map[int]bool{}
		for _, i := range s.Find(text, 3) {
			if i < 0 || i >= len(named) || seen[i] {
				t.Errorf("%q gives place %d", text, i)
			}
			seen[i] = true
		}
		if len(seen) > 3 {
			t.Errorf("%q gives %d places, want at most 3", text, len(seen))
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	all := make([]places.Named, 5000)
	for i := range all {
		all[i] = places.Named{Names: []string{fmt.Sprintf("Station %d of %s road, %s", i, named[i%5].Names[0], named[i%8].Names[0])}, Around: named[i%5].Names}
	}
	began := time.Now()
	s := places.NewSearch(all)
	b.ReportMetric(float64(time.Since(began).Microseconds()), "µs/index")
	for b.Loop() {
		s.Find("anand vihra road", 10)
	}
}

func TestPinsThatBegin(t *testing.T) {
	t.Parallel()
	pins := places.NewPins()
	if _, err := pins.Begins("4", 5); err == nil {
		t.Error("got pin codes before they are loaded")
	}
	path := write(t, `[{"p":"411004","a":18.51,"n":73.83},{"p":"411005","a":18.52,"n":73.84},{"p":"412001","a":18.53,"n":73.85},{"p":"500001","a":17.4,"n":78.5}]`)
	if err := pins.Load(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	for digits, want := range map[string]string{
		"4": "[411004 411005]", "411": "[411004 411005]", "411005": "[411005]", "412": "[412001]", "9": "[]", "0": "[]",
		"4110055": "[]", "": "[]", "41x": "[]",
	} {
		t.Run(digits, func(t *testing.T) {
			t.Parallel()
			found, err := pins.Begins(digits, 2)
			if err != nil {
				t.Fatal(err)
			}
			got := []int32{}
			for _, p := range found {
				got = append(got, p.Code)
			}
			if fmt.Sprint(got) != want {
				t.Errorf("got %v, want %s", got, want)
			}
		})
	}
}
