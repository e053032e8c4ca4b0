package described

import "testing"

// Sources: RFC 8288, section 3, and links of APIs with lists in the address.
func TestNextLink(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		headers []string
		want    string
	}{
		"without quotes":        {[]string{"<?page=2>; rel=next"}, "?page=2"},
		"second link":           {[]string{`</a>; rel="prev", </b>; rel="next"`}, "/b"},
		"second header":         {[]string{`</a>; rel="first"`, `</b>; rel="next"`}, "/b"},
		"commas in the address": {[]string{`<?ids=1,2,3&page=2>; rel="next"`}, "?ids=1,2,3&page=2"},
		"semicolon in it":       {[]string{`<?a=1;page=2>; rel="next"`}, "?a=1;page=2"},
		"comma in a title":      {[]string{`</a>; title="one, two"; rel="next"`}, "/a"},
		"two types":             {[]string{`</a>; rel="last next"`}, "/a"},
		"upper case":            {[]string{`</a>; REL = NEXT`}, "/a"},
		"other type":            {[]string{`</a>; rel="next-archive"`}, ""},
		"type in a title":       {[]string{`</a>; title="x; rel=next"; rel="last"`}, ""},
		"quote in a title":      {[]string{`</a>; title="5\" sensors, hourly"; rel="next"`}, "/a"},
		"parameter alone":       {[]string{`</a>; crossorigin; rel=next`}, "/a"},
		"no address":            {[]string{`rel="next"`, "<", "<>; rel=next", ""}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := nextLink(c.headers); got != c.want {
				t.Errorf("nextLink(%q) = %q, want %q", c.headers, got, c.want)
			}
		})
	}
}
