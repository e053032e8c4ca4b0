package namematch

import (
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/xrash/smetrics"
)

// labelled is one row of testdata/pairs.csv.
type labelled struct{ expected, registered, label, half, kind string }

func readPairs(tb testing.TB) []labelled {
	tb.Helper()
	f, err := os.Open("testdata/pairs.csv")
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		tb.Fatal(err)
	}
	var pairs []labelled
	for _, r := range rows[1:] {
		pairs = append(pairs, labelled{r[0], r[1], r[2], r[3], r[4]})
	}
	return pairs
}

func halfOf(tb testing.TB, half string) []labelled {
	tb.Helper()
	return slices.DeleteFunc(readPairs(tb), func(p labelled) bool { return p.half != half })
}

// The labels, in the order of the table.
var classes = []string{"equal", "partial", "different"}

// labelOf returns the contract's name of a score at the standard tolerance.
func labelOf(r Result) string {
	switch {
	case r.Exact:
		return "equal"
	case r.Score >= Standard:
		return "partial"
	}
	return "different"
}

func ours(p labelled) string { return labelOf(Compare(p.expected, p.registered)) }

// jaroWinkler judges by raw similarity in upper case, with the two thresholds
// that get the most pairs of the tune half right.
func jaroWinkler(tune []labelled) (judge func(labelled) string, equal, partial float64) {
	alike := func(p labelled) float64 {
		return smetrics.JaroWinkler(strings.ToUpper(p.expected), strings.ToUpper(p.registered), 0.7, 4)
	}
	word := func(s, equal, partial float64) string {
		switch {
		case s >= equal:
			return "equal"
		case s >= partial:
			return "partial"
		}
		return "different"
	}
	scores := make([]float64, len(tune))
	for i, p := range tune {
		scores[i] = alike(p)
	}
	best := -1
	for e := 50; e <= 100; e++ {
		for t := 50; t <= e; t++ {
			right := 0
			for i, p := range tune {
				if word(scores[i], float64(e)/100, float64(t)/100) == p.label {
					right++
				}
			}
			if right > best {
				best, equal, partial = right, float64(e)/100, float64(t)/100
			}
		}
	}
	return func(p labelled) string { return word(alike(p), equal, partial) }, equal, partial
}

// outcome counts results: [label][result].
type outcome map[string]map[string]int

func count(pairs []labelled, judge func(labelled) string) outcome {
	o := outcome{}
	for _, p := range pairs {
		if o[p.label] == nil {
			o[p.label] = map[string]int{}
		}
		o[p.label][judge(p)]++
	}
	return o
}

// of is the share in percent, with its numbers.
func of(part, all int) string {
	if all == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %% (%d/%d)", 100*float64(part)/float64(all), part, all)
}

func (o outcome) labelled(label string) (n int) {
	for _, c := range classes {
		n += o[label][c]
	}
	return n
}

func (o outcome) judged(result string) (n int) {
	for _, c := range classes {
		n += o[c][result]
	}
	return n
}

// same returns the number of equal people that were found, and their total.
func (o outcome) same() (found, all int) {
	for _, label := range classes[:2] {
		found += o[label]["equal"] + o[label]["partial"]
		all += o.labelled(label)
	}
	return found, all
}

// measured is the part of README.md that is measured.
func measured(tb testing.TB) string {
	tb.Helper()
	test := halfOf(tb, "test")
	judge, equal, partial := jaroWinkler(halfOf(tb, "tune"))
	us, jw := count(test, ours), count(test, judge)
	var b strings.Builder
	fmt.Fprintf(&b, "| test half, %d pairs | namematch | raw Jaro-Winkler (equal ≥ %.2f, partial ≥ %.2f) |\n|---|---|---|\n",
		len(test), equal, partial)
	for _, c := range classes {
		fmt.Fprintf(&b, "| %s: precision | %s | %s |\n", c, of(us[c][c], us.judged(c)), of(jw[c][c], jw.judged(c)))
		fmt.Fprintf(&b, "| %s: recall | %s | %s |\n", c, of(us[c][c], us.labelled(c)), of(jw[c][c], jw.labelled(c)))
	}
	foundUs, allUs := us.same()
	foundJW, allJW := jw.same()
	fmt.Fprintf(&b, "| same people found exact or partial | %s | %s |\n", of(foundUs, allUs), of(foundJW, allJW))
	for _, c := range classes[:2] {
		fmt.Fprintf(&b, "| different people taken for %s | %s | %s |\n", c,
			of(us["different"][c], us.labelled("different")), of(jw["different"][c], jw.labelled("different")))
	}
	return b.String()
}

// The accuracy on names that were not used for tuning.
func TestTargetsOnTheTestHalf(t *testing.T) {
	t.Parallel()
	t.Logf("\n%s", measured(t))
	o := count(halfOf(t, "test"), ours)
	different := o.labelled("different")
	if got := o["different"]["equal"]; got != 0 {
		t.Errorf("different people taken for exact: got %d of %d, want none", got, different)
	}
	if got := o["different"]["partial"]; got*100 > different {
		t.Errorf("different people taken for partial: got %d of %d, want at most 1 %%", got, different)
	}
	if got, all := o.same(); got*100 < all*97 {
		t.Errorf("same people found: got %d of %d, want at least 97 %%", got, all)
	}
}

// A wrong pair of the tune half is shown by name. The test half shows only counts, so that the
// rules are not tuned on it.
func TestTuneHalf(t *testing.T) {
	t.Parallel()
	wrong := 0
	for _, p := range halfOf(t, "tune") {
		r := Compare(p.expected, p.registered)
		if got := labelOf(r); got != p.label {
			wrong++
			t.Logf("%s: %q, %q: got %s (%d), want %s", p.kind, p.expected, p.registered, got, r.Score, p.label)
		}
	}
	if wrong > 4 {
		t.Errorf("got %d pairs of the tune half wrong, want at most 4", wrong)
	}
}

// The halves are not selected: within a label and a kind, rows alternate.
func TestHalvesAlternate(t *testing.T) {
	t.Parallel()
	pairs := readPairs(t)
	if len(pairs) < 600 {
		t.Errorf("got %d labelled pairs, want 600 or more", len(pairs))
	}
	rows := map[[2]string]int{}
	seen := map[[2]string]bool{}
	for _, p := range pairs {
		key := [2]string{p.label, p.kind}
		want := []string{"tune", "test"}[rows[key]%2]
		rows[key]++
		if p.half != want {
			t.Errorf("%q, %q: got half %q, want %q", p.expected, p.registered, p.half, want)
		}
		if !slices.Contains(classes, p.label) {
			t.Errorf("%q, %q: label %q", p.expected, p.registered, p.label)
		}
		if name := [2]string{p.expected, p.registered}; seen[name] {
			t.Errorf("%q, %q stands twice", p.expected, p.registered)
		} else {
			seen[name] = true
		}
	}
}

// The table in README.md equals the computed one.
func TestReadmeTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := measured(t); !strings.Contains(string(text), want) {
		t.Errorf("README.md does not hold the table that is measured:\n%s", want)
	}
}
