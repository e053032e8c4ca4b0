// Package conformance checks sources of readings. A test case is a folder with the input bytes, and the expected
// readings or error. A bug report can therefore become a test case without Go code.
//
//	case.json      the replies or the input, and the expected result (see [Case])
//	readings.csv   the readings, sorted: station,pollutant,at,value,kind,averaging,flag
//	missing.csv    the cells without a value, sorted: station,pollutant,at,kind,averaging; may be absent
//	bulletins.csv  the published AQIs of cities, sorted: day,name,city,state,aqi,category,prominent,stations used,stations; may be absent
//	rejected.csv   the first 100 rejected values of each reason, sorted: record,reason,field; may be absent
//	stations.csv   the stations, sorted; may be absent:
//	               id,name,city,state,latitude,longitude,kind,attribution,licence
package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vayu/ingest"
)

// Key is the API key of a source under test. No error may contain it.
const Key = "secret-key-of-the-source"

// Names of the files of a case. A folder is a case if it has the file caseFile.
const (
	caseFile     = "case.json"
	readingsFile = "readings.csv"
	missingFile  = "missing.csv"
	rejectedFile = "rejected.csv"
	// bulletinsFile has the expected bulletins. It is absent from a case for a source of readings.
	bulletinsFile = "bulletins.csv"
	stationsFile  = "stations.csv"
)

// Case is a test case: the content of its file case.json, with the URL and the path that the test uses.
type Case struct {
	// About is the purpose of the case.
	About string `json:"about"`
	// Now is the present time for the source under test.
	Now time.Time `json:"now"`
	// From and To are the window to fetch. If both are zero, the source chooses its window.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
	// Replies are served over HTTP, one per request.
	Replies []Reply `json:"replies,omitempty"`
	// Repeat makes the server send the last reply to every further request.
	Repeat bool `json:"repeat,omitempty"`
	// AnyOrder makes the server send to each request the first reply that matches its path and query. A reply can be
	// sent any number of times. Sources that download files need AnyOrder.
	AnyOrder bool `json:"any_order,omitempty"`
	// Input is the input file or folder, for a source that reads files.
	Input string `json:"input,omitempty"`
	// Error is a part of the expected error of Fetch, or of opening the source. It is "" if no error is expected.
	Error string `json:"error,omitempty"`
	// Reason is the expected reason if the expected error is an [ingest.BatchError]. Otherwise it is empty.
	Reason ingest.Reason `json:"reason,omitempty"`
	// Rejected are the expected numbers of rejected values, by reason.
	Rejected ingest.Rejections `json:"rejected,omitempty"`

	// URL is the address of the server that sends the replies of the case.
	URL string `json:"-"`
	// Path is the local path of Input.
	Path string `json:"-"`

	dir string
}

// Reply is one reply of the server. The default status is 200.
type Reply struct {
	// File is the name of the file that has the body. Without a File, the body is empty.
	File   string            `json:"file,omitempty"`
	Status int               `json:"status,omitempty"`
	Header map[string]string `json:"header,omitempty"`
	// Path is the path that the request must have. If it is empty, any path is accepted.
	Path string `json:"path,omitempty"`
	// Query holds parameters that the request must have.
	Query map[string]string `json:"query,omitempty"`
	// Gzip makes the server compress the body with gzip.
	Gzip bool `json:"gzip,omitempty"`
	// Endless makes the server repeat the body until the client closes the connection.
	Endless bool `json:"endless,omitempty"`
	// Cut makes the server announce more bytes than it sends, as if the connection broke.
	Cut bool `json:"cut,omitempty"`
}

// Clock returns [Case.Now] as the clock of the source under test.
func (c *Case) Clock() time.Time { return c.Now }

// Window returns the window that the case fetches.
func (c *Case) Window() ingest.Window { return ingest.Window{From: c.From, To: c.To} }

// Host returns the host and port of c.URL.
func (c *Case) Host() string {
	_, after, _ := strings.Cut(c.URL, "://")
	host, _, _ := strings.Cut(after, "/")
	return host
}

// Name returns the name of the case's folder.
func (c *Case) Name() string { return filepath.Base(c.dir) }

// Folders returns the folders of a directory that hold a case, sorted.
func Folders(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the cases: %w", err)
	}
	var all []string
	for _, entry := range entries {
		folder := filepath.Join(dir, entry.Name())
		if _, err := os.Stat(filepath.Join(folder, caseFile)); err == nil {
			all = append(all, folder)
		}
	}
	return all, nil
}

// Load reads the case of a folder.
func Load(dir string) (*Case, error) {
	name := filepath.Join(dir, caseFile)
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading a case: %w", err)
	}
	c := &Case{dir: dir}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(c); err != nil {
		return nil, fmt.Errorf("reading the case %s: %w", name, err)
	}
	if c.Now.IsZero() || (len(c.Replies) == 0) == (c.Input == "") {
		return nil, fmt.Errorf("reading the case %s: it needs now, and either replies or an input", name)
	}
	for _, file := range append(c.files(), c.Input) {
		if file != "" && !filepath.IsLocal(file) {
			return nil, fmt.Errorf("reading the case %s: the file %q is outside the folder", name, file)
		}
	}
	if c.Input != "" {
		c.Path = filepath.Join(dir, c.Input)
	}
	return c, nil
}

// files returns the names of the files with the bodies of the replies.
func (c *Case) files() []string {
	var all []string
	for _, r := range c.Replies {
		all = append(all, r.File)
	}
	return all
}

// Readings returns the number of expected readings and bulletins.
func (c *Case) Readings() (int, error) {
	readings, _, err := c.expected(readingsFile)
	bulletins, _, failed := c.expected(bulletinsFile)
	return strings.Count(readings, "\n") + strings.Count(bulletins, "\n"), errors.Join(err, failed)
}

// Body returns the body of a reply, before it is compressed or cut.
func (c *Case) Body(r Reply) ([]byte, error) {
	if r.File == "" {
		return nil, nil
	}
	text, err := os.ReadFile(filepath.Join(c.dir, r.File))
	if err != nil {
		return nil, fmt.Errorf("reading a reply of the case %s: %w", c.Name(), err)
	}
	return text, nil
}

// expected returns the content of a file with expected results, and whether the file exists.
func (c *Case) expected(name string) (text string, exists bool, err error) {
	content, err := os.ReadFile(filepath.Join(c.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("reading the expected results: %w", err)
	}
	return string(content), true, nil
}

// mismatch returns how an error differs from the expected error, or "" if it matches.
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
