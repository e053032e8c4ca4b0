package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"vayu/ingest"
	"vayu/ingest/conformance"
	"vayu/schema/air"
	"vayu/schema/parameter"
)

const (
	// result has the case that the source below passes.
	result = `{"now": "2026-06-09T12:00:00Z", "replies": [{"file": "1.txt", "path": "/feed", "query": {"key": "k"}}], "rejected": {"bad_number": 1}}`
	feed   = "7\n8x\n9\n"
	rows   = "one,pm25,2026-06-09T11:00:00Z,7,concentration,60,plain\none,pm25,2026-06-09T11:01:00Z,9,concentration,60,plain\n"
)

var noon = time.Date(2026, 6, 9, 12, 0, 0, 0, time.UTC)

// feedSource reads a number from each line of a feed. Its switches violate the contract.
type feedSource struct {
	url                                      string
	ignoreContext, swallow, future, quoteKey bool
	extra                                    int // requests after the first
	fetched                                  bool
}

// Fetch implements [ingest.Source].
func (s *feedSource) Fetch(ctx context.Context, _ ingest.Window, yield func(*ingest.Batch) error) error {
	if s.ignoreContext {
		ctx = context.WithoutCancel(ctx)
	}
	var text string
	for range 1 + s.extra {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"?key=k", nil)
		if err != nil {
			return err
		}
		reply, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(reply.Body)
		if err := errors.Join(err, reply.Body.Close()); err != nil {
			return err
		}
		if reply.StatusCode != http.StatusOK {
			return fmt.Errorf("status %d of %s", reply.StatusCode, s.url)
		}
		text = string(body)
	}
	if s.quoteKey {
		return errors.New("the key " + conformance.Key + " is wrong")
	}
	err := s.parse(text, yield)
	if s.swallow {
		return nil
	}
	return err
}

func (s *feedSource) parse(text string, yield func(*ingest.Batch) error) error {
	b := ingest.NewBuilder("feed", noon, yield)
	station := b.Station(air.Station{ID: "one"})
	at := noon.Add(-time.Hour)
	if s.future && s.fetched {
		at = at.Add(time.Minute)
	}
	s.fetched = true
	for line := range strings.Lines(text) {
		v, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
		if err != nil {
			b.Reject(ingest.BadNumber)
			continue
		}
		if err := b.Add(station, air.Reading{Parameter: parameter.PM25, At: at, Value: v, Kind: air.Concentration, Averaging: 60}); err != nil {
			return err
		}
		at = at.Add(time.Minute)
	}
	return b.Close()
}

func TestViolationsAreFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		source     feedSource
		text, csv  string
		part, want string
	}{
		"conforming":             {text: result, csv: rows},
		"other readings":         {text: result, csv: strings.Replace(rows, ",7,", ",6,", 1), part: "result", want: "-one,pm25,2026-06-09T11:00:00Z,6,"},
		"other rejections":       {text: strings.Replace(result, `"bad_number": 1`, `"bad_time": 1`, 1), csv: rows, part: "result", want: "rejected map[bad_number:1]"},
		"other path":             {text: strings.Replace(result, "/feed", "/other", 1), csv: rows, part: "result", want: "request of /feed, want /other"},
		"other query":            {text: strings.Replace(result, `"k"`, `"q"`, 1), csv: rows, part: "result", want: `key="k", want "q"`},
		"too many requests":      {source: feedSource{extra: 1}, text: result, csv: rows, part: "result", want: "after the last reply"},
		"unexpected error":       {source: feedSource{extra: 1}, text: result, csv: rows, part: "result", want: "status 418"},
		"missing error":          {text: strings.Replace(result, `"rejected"`, `"error": "refused", "rejected"`, 1), csv: rows, part: "result", want: `want one with "refused"`},
		"key in the error":       {source: feedSource{quoteKey: true}, text: strings.Replace(result, `"rejected"`, `"error": "key", "rejected"`, 1), part: "result", want: "contains the key"},
		"second fetch differs":   {source: feedSource{future: true}, text: result, csv: rows, part: "again", want: "the second fetch differs"},
		"ended context ignored":  {source: feedSource{ignoreContext: true}, text: result, csv: rows, part: "cancelled", want: "want its error"},
		"error of store ignored": {source: feedSource{swallow: true}, text: result, csv: rows, part: "refused", want: "want the store is down"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loaded, err := conformance.Load(folder(t, c.text, c.csv))
			if err != nil {
				t.Fatal(err)
			}
			faults, err := loaded.Check(t.Context(), func(one *conformance.Case) (ingest.Source, error) {
				s := c.source
				s.url = one.URL
				return &s, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" {
				if len(faults) > 0 {
					t.Errorf("faults %+v, want none", faults)
				}
				return
			}
			found := false
			for _, f := range faults {
				found = found || f.Part == c.part && strings.Contains(f.Text, c.want)
			}
			if !found {
				t.Errorf("faults %+v, want one of %s with %q", faults, c.part, c.want)
			}
		})
	}
}

// folder writes a case.
func folder(t *testing.T, text, csv string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"case.json": text, "1.txt": feed, "readings.csv": csv} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestInvalidCases(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2]string{
		"unknown key":        {`{"now": "2026-06-09T12:00:00Z", "reply": []}`, "unknown field"},
		"no time":            {`{"replies": [{"file": "1.txt"}]}`, "needs now"},
		"no reply":           {`{"now": "2026-06-09T12:00:00Z"}`, "either replies or an input"},
		"file outside":       {`{"now": "2026-06-09T12:00:00Z", "replies": [{"file": "../1.txt"}]}`, "outside the folder"},
		"input file outside": {`{"now": "2026-06-09T12:00:00Z", "input": "../../x"}`, "outside the folder"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := conformance.Load(folder(t, c[0], "")); err == nil || !strings.Contains(err.Error(), c[1]) {
				t.Errorf("error %v, want one with %q", err, c[1])
			}
		})
	}
}
