// Package sourcetest is the conformance suite of sources. A test case is a folder
// with the input bytes, and the expected readings or error. A bug report becomes a
// folder, without Go code.
//
//	case.json      the replies or the input, and the expected result (see [Case])
//	readings.csv   the readings, sorted: station,pollutant,at,value,kind,averaging,flag
//	missing.csv    the cells without a value, sorted: station,pollutant,at,kind,averaging; may be absent
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

// Key is the API key of a source under test. No error may contain it.
const Key = "secret-key-of-the-source"

// Case is a test case: the content of its file case.json, with the URL and the path
// of the test.
type Case struct {
	// About is the purpose of the case.
	About string `json:"about"`
	// Now is the time of the source's clock.
	Now time.Time `json:"now"`
	// Replies are served over HTTP, one per request.
	Replies []Reply `json:"replies"`
	// Repeat serves the last reply again for every further request.
	Repeat bool `json:"repeat"`
	// Input is the input file, for a source that reads files.
	Input string `json:"input"`
	// Error is part of the expected error of Fetch, or of opening the source.
	Error string `json:"error"`
	// Reason is the expected reason of a [ingest.BatchError]; empty for another
	// error.
	Reason ingest.Reason `json:"reason"`
	// Rejected are the expected rejections, by reason.
	Rejected ingest.Rejections `json:"rejected"`

	// URL is the address of the server.
	URL string `json:"-"`
	// Path is the path of Input.
	Path string `json:"-"`

	dir string
}

// Reply is one reply of the server. The default status is 200.
type Reply struct {
	// File holds the body; empty for an empty body.
	File   string            `json:"file"`
	Status int               `json:"status"`
	Header map[string]string `json:"header"`
	// Query holds parameters that the request must have.
	Query map[string]string `json:"query"`
	// Gzip compresses the body.
	Gzip bool `json:"gzip"`
	// Endless repeats the body until the client closes the connection.
	Endless bool `json:"endless"`
	// Cut announces more bytes than are sent, like a broken connection.
	Cut bool `json:"cut"`
}

// Clock returns [Case.Now] as the clock of the source under test.
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

// expected returns the content of a file with expected results, and whether it
// exists.
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

// mismatch returns how an error differs from the expected one; empty if it
// matches.
func (c *Case) mismatch(err error) string {
	if err != nil && strings.Contains(err.Error(), Key) {
		return "the error contains the key"
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
