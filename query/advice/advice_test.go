package advice_test

import (
	"strings"
	"testing"

	"vayu/internal/access/accesstest"
	"vayu/internal/httpapi/httpapitest"
	"vayu/query/advice"
	"vayu/schema"
)

const key = "sk_test_advice"

func client(t *testing.T) accesstest.Client {
	t.Helper()
	return accesstest.NewClient(t, httpapitest.Keys{schema.Sandbox: key}, advice.Routes())
}

func TestAdvice(t *testing.T) {
	t.Parallel()
	c := client(t)
	for _, row := range []struct {
		query, contains    string
		categories, groups int
	}{
		{"", "Minimal impact.", 6, 6},
		{"?category=Poor", "12 and 4 pm", 1, 6},
		{"?category=very%20poor&group=children", "No sport or play outdoors", 1, 1},
		{"?category=Severe&language=hi", "घर के अंदर रहें", 1, 6},
		{"?category=Severe&language=ta-IN", "கடுமையானது", 1, 6},
		{"?category=Severe&language=fr", "Severe", 1, 6},
	} {
		t.Run(row.query, func(t *testing.T) {
			t.Parallel()
			reply := c.Do(key, "GET", "/v1/advice"+row.query, "").Want(t, "advice", 200)
			data, _ := reply.At("data").([]any)
			if len(data) != row.categories {
				t.Fatalf("got %d categories, want %d", len(data), row.categories)
			}
			groups, _ := data[0].(map[string]any)["groups"].([]any)
			if len(groups) != row.groups {
				t.Errorf("got %d groups, want %d", len(groups), row.groups)
			}
			if !strings.Contains(reply.Text, row.contains) {
				t.Errorf("got %s, want a text with %q", reply.Text, row.contains)
			}
		})
	}
}

// A client need not fetch the advice of a language again.
func TestAdviceIsRevalidated(t *testing.T) {
	t.Parallel()
	c := client(t)
	tags := map[string]bool{}
	for _, language := range []string{"en", "ta"} {
		reply := c.Do(key, "GET", "/v1/advice", "", "Accept-Language", language).Want(t, language, 200)
		tag := reply.Header.Get("Etag")
		tags[tag] = true
		if got := reply.Header.Get("Cache-Control"); got != "private, max-age=3600" {
			t.Errorf("%s: the Cache-Control is %q", language, got)
		}
		again := c.Do(key, "GET", "/v1/advice", "", "Accept-Language", language, "If-None-Match", tag).Want(t, language, 304)
		if got := again.Header.Get("Vary"); !strings.Contains(got, "Accept-Language") || again.Header.Get("Content-Language") != language {
			t.Errorf("%s: 304 has Vary %q, Content-Language %q", language, got, again.Header.Get("Content-Language"))
		}
		c.Do(key, "GET", "/v1/advice?category=Poor", "", "Accept-Language", language, "If-None-Match", tag).Want(t, "another body", 200)
	}
	if len(tags) != 2 {
		t.Errorf("two languages have the ETags %v", tags)
	}
}

// The reply names its language, and a cache keeps the languages apart.
func TestLanguageOfAdvice(t *testing.T) {
	t.Parallel()
	c := client(t)
	for _, row := range []struct{ query, accept, want, vary string }{
		{"", "", "en", "Accept-Language"},
		{"", "ta-IN,ta;q=0.9,en;q=0.5", "ta", "Accept-Language"},
		{"", "fr, te;q=0.5", "te", "Accept-Language"},
		{"", "rubbish;;, ,q=7", "en", "Accept-Language"},
		{"?language=bn", "ta", "bn", ""},
		{"?language=mr-IN", "", "mr", ""},
		{"?language=zh", "ta", "en", ""},
	} {
		t.Run(row.query+" "+row.accept, func(t *testing.T) {
			t.Parallel()
			reply := c.Do(key, "GET", "/v1/advice"+row.query, "", "Accept-Language", row.accept).Want(t, "advice", 200)
			if got := reply.Header.Get("Content-Language"); got != row.want || reply.At("language") != row.want {
				t.Errorf("got the language %q and %v, want %q", got, reply.At("language"), row.want)
			}
			vary := strings.Join(reply.Header.Values("Vary"), ", ")
			if !strings.Contains(vary, "Authorization") || strings.Contains(vary, "Accept-Language") != (row.vary != "") {
				t.Errorf("got Vary %q, want Authorization, %s", vary, row.vary)
			}
		})
	}
}

func TestInvalidQueriesOfAdvice(t *testing.T) {
	t.Parallel()
	c := client(t)
	for query, field := range map[string]string{"category=Bad": "category", "group=cats": "group", "language=hindi": "language", "language=ta,te": "language", "language=": "language", "city=Delhi": "city"} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			c.Do(key, "GET", "/v1/advice?"+query, "").WantError(t, query, 400, schema.InvalidRequest, field)
		})
	}
}
