package caching_test

import (
	"errors"
	"testing"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/caching"
	"vayu/query/snapshot"
)

// A reply is rendered once for its snapshot, its period and its key, and never answers another one.
func TestRepliesAreThoseOfTheirSnapshotPeriodAndKey(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 25, 9, 12, 0, 0, time.UTC)
	old, latest := &snapshot.Snapshot{Built: start}, &snapshot.Snapshot{Built: start.Add(time.Minute)}
	replies := caching.NewReplies(10*time.Second, 2, 20)
	for _, step := range []struct {
		name, key, body string // the body that a rendering would have
		of              *snapshot.Snapshot
		after           time.Duration
		want            string
	}{
		{"the first reply", "a", "1", old, 0, "1"},
		{"the same again", "a", "2", old, 9 * time.Second, "1"},
		{"another key", "b", "3", old, 9 * time.Second, "3"},
		{"the next period", "a", "4", old, 10 * time.Second, "4"},
		{"a new snapshot", "a", "5", latest, 10 * time.Second, "5"},
		{"a request that began before it", "a", "6", old, 10 * time.Second, "6"},
		{"the new snapshot again", "a", "7", latest, 10 * time.Second, "5"},
		{"a large body", "c", "a body of 24 characters.", latest, 10 * time.Second, "a body of 24 characters."},
		{"the large body again", "c", "8", latest, 10 * time.Second, "8"},
	} {
		resp, err := replies.Get(step.of, start.Add(step.after), step.key, func() (httpapi.Response, error) {
			return httpapi.Ready([]byte(step.body), time.Time{}), nil
		})
		if err != nil || string(resp.Body) != step.want {
			t.Errorf("%s: got %q and the error %v, want %q", step.name, resp.Body, err, step.want)
		}
	}
}

func TestFailedReplyIsRenderedAgain(t *testing.T) {
	t.Parallel()
	snap, now := &snapshot.Snapshot{}, time.Unix(0, 0)
	replies := caching.NewReplies(time.Second, 2, 0)
	failure := errors.New("no figures")
	if _, err := replies.Get(snap, now, "a", func() (httpapi.Response, error) { return httpapi.Response{}, failure }); !errors.Is(err, failure) {
		t.Errorf("got the error %v, want %v", err, failure)
	}
	resp, err := replies.Get(snap, now, "a", func() (httpapi.Response, error) { return httpapi.Response{Body: []byte("1")}, nil })
	if err != nil || string(resp.Body) != "1" {
		t.Errorf("got %q and the error %v, want the second rendering", resp.Body, err)
	}
}
