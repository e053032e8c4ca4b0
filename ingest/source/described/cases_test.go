package described

import (
	"context"
	"regexp"
	"testing"
	"time"

	"vayu/ingest/sourcetest"
)

// anyKey is an environment in which every variable is the key that no error may hold.
func anyKey(string) (string, bool) { return sourcetest.Key, true }

// hosts matches the scheme and host of URLs in a description.
var hosts = regexp.MustCompile(`url: https?://[^/\n]+`)

// hostOf matches the scheme and host of a server's address.
var hostOf = regexp.MustCompile(`^http://[^/]+`)

// at returns a description whose requests go to a server of a test.
func at(f File, server string) File {
	f.Text = hosts.ReplaceAll(f.Text, []byte("url: "+hostOf.FindString(server)))
	if !regexp.MustCompile(`(?m)^local:`).Match(f.Text) {
		f.Text = append(f.Text, "\nlocal: true\n"...)
	}
	f.Env = anyKey
	return f
}

// open builds the source of a description. It does not wait for the call budget.
func open(t testing.TB, f File, clock func() time.Time) *Source {
	t.Helper()
	d, err := Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	src, err := d.New(d.Name, clock)
	if err != nil {
		t.Fatal(err)
	}
	s, whole := src.(*Source)
	if !whole {
		s = src.(divided).Source
	}
	s.caller.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	return s
}
