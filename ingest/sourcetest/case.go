// Package sourcetest is the conformance suite of sources. A test case is a
// folder: real or hand-written bytes, and the readings or the error that they
// must give. A bug report becomes a folder; no Go is written.
//
//	case.json      what is served or read, and what must come of it (see [Case])
//	readings.csv   the readings, sorted: station,pollutant,at,value,kind,averaging,flag
//	missing.csv    the cells without a figure, sorted: station,pollutant,at,kind,averaging; may be absent
//	stations.csv   the stations, sorted; may be absent:
//	               id,name,city,state,latitude,longitude,kind,attribution,licence
package sourcetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vayu/ingest"
)

// Key is the key that a source under test is given. No error may hold it.
const Key = "key-that-nobody-may-see"

// Case is the file case.json of a folder, and what the suite adds for the
// function that opens the source.
type Case struct {
	// About says what the case is for.
	About string `json:"about"`
	// Now is what the source's clock shows.
	Now time.Time `json:"now"`
	// Replies are served over HTTP, one request after another.
	Replies []Reply `json:"replies"`
	// Repeat serves the last reply again for every further request.
	Repeat bool `json:"repeat"`
	// Input is the file to read, for a source that reads files.
	Input string `json:"input"`
	// Error is part of the error that Fetch, or opening the source, must return.
	Error string `json:"error"`
	// Reason is why the whole batch is refused; empty when the error is another.
	Reason ingest.Reason `json:"reason"`
	// Rejected are the values that must be refused, by reason.
	Rejected ingest.Rejections `json:"rejected"`

	// URL is where the replies are served.
	URL string `json:"-"`
	// Path is where Input lies.
	Path string `json:"-"`

	dir string
}

// Reply is one answer of the server. Without a status it is 200.
type Reply struct {
	// File holds the body; none is an empty one.
	File   string            `json:"file"`
	Status int               `json:"status"`
	Header map[string]string `json:"header"`
	// Query holds parameters that the request must have.
	Query map[string]string `json:"query"`
	// Gzip sends the body compressed.
	Gzip bool `json:"gzip"`
	// Endless sends the body over and over until the client has had enough.
	Endless bool `json:"endless"`
	// Cut announces more bytes than are sent, as a broken connection does.
	Cut bool `json:"cut"`
}

// Clock shows [Case.Now].
func (c *Case) Clock() time.Time { return c.Now }

// load reads the case of a folder.
func load(t *testing.T, dir string) *Case {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "case.json"))
	if err != nil {
		t.Fatal(err)
	}
	c := &Case{dir: dir}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(c); err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	if c.Now.IsZero() || (len(c.Replies) == 0) == (c.Input == "") {
		t.Fatalf("%s: a case needs now, and either replies or an input", dir)
	}
	if c.Input != "" {
		c.Path = filepath.Join(dir, c.Input)
	}
	return c
}

// wanted returns a file of expectations, and whether there is one.
func (c *Case) expected(t *testing.T, name string) (string, bool) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text), true
}

// fault says what is wrong with an error; empty when it is the one wanted.
func (c *Case) mismatch(err error) string {
	if err != nil && strings.Contains(err.Error(), Key) {
		return "the error holds the key"
	}
	if c.Error == "" {
		if err != nil {
			return fmt.Sprintf("error %v, want none", err)
		}
		return ""
	}
	if err == nil || !strings.Contains(err.Error(), c.Error) {
		return fmt.Sprintf("error %v, want one with %q", err, c.Error)
	}
	got := ingest.None
	if batch, ok := errors.AsType[*ingest.BatchError](err); ok {
		got = batch.Reason
	}
	if got != c.Reason {
		return fmt.Sprintf("error %v with reason %q, want reason %q", err, got, c.Reason)
	}
	return ""
}
