package namematch

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Rajesh Kumar ", 400)
	for name, test := range map[string]struct {
		expected, registered string
		want                 string
	}{
		"same":                      {"Rajesh Sharma", "RAJESH SHARMA", "equal"},
		"order":                     {"Sharma Rajesh", "Rajesh Sharma", "equal"},
		"tail":                      {"Ramesh Kumar S/O Suresh", "Ramesh Kumar", "equal"},
		"company form":              {"Nava (P) Ltd.", "NAVA PRIVATE LIMITED", "equal"},
		"initials":                  {"R K Sharma", "Rajesh Kumar Sharma", "partial"},
		"variant":                   {"Mohd Irfan", "Mohammed Irfan", "partial"},
		"joined":                    {"Venkata Ramana", "Venkataramana", "partial"},
		"script":                    {"राजेश शर्मा", "RAJESH SHARMA", "partial"},
		"one letter":                {"Sunita", "Sunil", "different"},
		"a longer name":             {"Priya Singh", "Priyanka Singh", "different"},
		"middle initial":            {"Ramesh M Patel", "Ramesh K Patel", "different"},
		"two titles":                {"Syed Akbar", "Shaikh Akbar", "different"},
		"a woman's name":            {"Rama Prasad", "Ram Prasad", "different"},
		"a surname alone":           {"Sharma", "Rajesh Sharma", "different"},
		"Cyrillic а for a":          {"Rаjesh Sharma", "Rajesh Sharma", "different"},
		"5,000 letters":             {long, long, "equal"},
		"5,000 letters, one more":   {long, long + "x", "different"},
		"5,000 letters, by order":   {long + "Rao", "Rao " + long, "equal"},
		"a title alone":             {"Dr", "DR.", "equal"},
		"digits":                    {"3M India Ltd", "3M INDIA LIMITED", "equal"},
		"other script":              {"ராஜேஷ்", "ராஜேஷ்", "equal"},
		"other scripts, two people": {"ராஜேஷ் குமார்", "ராஜேஷ் ராவ்", "different"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Compare(test.expected, test.registered)
			if got := labelOf(r); got != test.want {
				t.Errorf("%q, %q: got %s (%d), want %s", test.expected, test.registered, got, r.Score, test.want)
			}
		})
	}
}

// A name without words matches nothing, not even itself.
func TestNamesWithoutWords(t *testing.T) {
	t.Parallel()
	wordless := []string{"", " ", "...", "&", "/", "\u202e\u202c", "\u200d", "\u0301", "\xff\xfe", "🙂"}
	for _, a := range wordless {
		for _, b := range append(wordless, "Rajesh") {
			if diff := cmp.Diff(Result{}, Compare(a, b)); diff != "" {
				t.Errorf("%q, %q (-want +got):\n%s", a, b, diff)
			}
		}
	}
}

// Folded differences do not affect exactness.
func TestFoldedAway(t *testing.T) {
	t.Parallel()
	words := rapid.SliceOfN(rapid.StringMatching(`[A-Z][a-zāéīñśū]{3,9}`), 2, 5)
	rapid.Check(t, func(t *rapid.T) {
		w := words.Draw(t, "words")
		name := strings.Join(w, " ")
		turned := strings.Join(append(append([]string{}, w[1:]...), w[0]), " ")
		plain := strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Mn, r) {
				return -1
			}
			return r
		}, norm.NFD.String(name))
		for how, other := range map[string]string{
			"upper case":  strings.ToUpper(name),
			"NFD":         norm.NFD.String(name),
			"accents":     plain,
			"punctuation": strings.ReplaceAll(name, " ", ".-, "),
			"honorific":   "Mr. " + name,
			"title after": name + " (Dr)",
			"tail":        name + " S/O Another Person",
			"order":       turned,
			"joiners":     strings.Join(strings.Split(name, ""), "\u200d"),
			"direction":   "\u202e" + name + "\u202c",
		} {
			if got := Compare(name, other); !got.Exact {
				t.Errorf("%s: %q, %q: got %+v, want exact", how, name, other, got)
			}
		}
	})
}

// Scores are symmetric.
func FuzzCompare(f *testing.F) {
	for _, p := range readPairs(f) {
		f.Add(p.expected, p.registered)
	}
	f.Add("S/O", "s/o s/o")
	f.Add("l l p", "L.L.P.")
	f.Add("0", strings.Repeat("0", 300))
	f.Add(strings.Repeat("a ", 3000), strings.Repeat("ﷺ", 300))
	f.Fuzz(func(t *testing.T, a, b string) {
		got := Compare(a, b)
		if got != Compare(a, b) || got != Compare(b, a) {
			t.Errorf("%q, %q: got another result the second time or the other way round", a, b)
		}
		if got.Score < 0 || got.Score > 100 || (got.Score == 100) != got.Exact {
			t.Errorf("%q, %q: got %+v, want 0 to 100, and 100 for exact only", a, b, got)
		}
		hasWord := strings.ContainsFunc(norm.NFKD.String(strings.ToValidUTF8(a, " ")), func(r rune) bool {
			return unicode.IsLetter(r) || unicode.IsDigit(r)
		})
		if self := Compare(a, a); self.Exact != hasWord {
			t.Errorf("%q with itself: got %+v, want exact: %v", a, self, hasWord)
		}
	})
}
