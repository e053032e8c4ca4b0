package pattern

import (
	"fmt"
	"strings"
	"testing"
)

func TestPath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pattern, path, want string }{
		{"location-{location}-{yyyy}{mm}{dd}.csv.gz", "a/b/location-8118-20260415.csv.gz", "8118 2026 04 15"},
		{"location-{location}-{yyyy}{mm}{dd}.csv.gz", "location-8118-20260415.csv", ""},
		{"locationid={location}/year={yyyy}/month={mm}/*.csv", "locationid=7/year=2026/month=04/x.csv", "7 2026 04"},
		{"locationid={location}/year={yyyy}/month={mm}/*.csv", "other/locationid=7/year=2026/month=04/x.csv", ""},
		{"**/{station}.csv", "a/b/Anand Vihar.csv", "Anand Vihar"},
		{"**/{station}.csv", "top.csv", "top"},
		{"{yyyy}/{mm}/day-{yyyy}{mm}.csv", "2026/04/day-202604.csv", "2026 04"},
		{"{yyyy}.csv", "20x6.csv", ""},
		{"*.csv", "a/.csv", "-"},
		{"a.c", "abc", ""},
		{"{station}.csv", "x/y\nz.csv", "y\nz"},
		{"{a}-{b}.csv", "1-2-3.csv", "1-2 3"},
	} {
		t.Run(c.pattern+" "+c.path, func(t *testing.T) {
			t.Parallel()
			p, err := Path(c.pattern)
			if err != nil {
				t.Fatal(err)
			}
			fields, ok := p.Match(c.path)
			var all []string
			for _, name := range p.Fields() {
				all = append(all, fields[name])
			}
			got := strings.Join(all, " ")
			if ok && len(all) == 0 {
				got = "-"
			}
			if !ok {
				got = ""
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestBadPatterns(t *testing.T) {
	t.Parallel()
	many := ""
	for i := range mostFields + 1 {
		many += fmt.Sprintf("{f%d}", i)
	}
	for _, text := range []string{"", "{", "}", "{}", "{Name}", "{a}{a}", "a\nb", many, strings.Repeat("x", mostBytes+1)} {
		if _, err := Path(text); err == nil {
			t.Errorf("the pattern %q was accepted", text)
		}
	}
}

// FuzzPattern compiles arbitrary patterns and matches arbitrary texts. A text matches
// itself if it has no special characters.
func FuzzPattern(f *testing.F) {
	f.Add("location-{location}-{yyyy}{mm}{dd}.csv", "location-1-20260101.csv")
	f.Add("**/*", "a/b")
	f.Fuzz(func(t *testing.T, text, input string) {
		p, err := Text(text)
		if err != nil {
			return
		}
		fields, ok := p.Match(input)
		if ok && len(fields) != len(p.Fields()) {
			t.Errorf("%d fields, want %d", len(fields), len(p.Fields()))
		}
		if _, ok := p.Match(text); !ok && !strings.ContainsAny(text, "*{}") && strings.ToValidUTF8(text, "") == text {
			t.Errorf("%q does not match itself", text)
		}
	})
}
