package kit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"vayu/ingest"
	"vayu/ingest/conformance"
	"vayu/ingest/fetch"
	"vayu/ingest/recording"
	"vayu/ingest/source/described"
	"vayu/ingest/source/described/draft"
	"vayu/ingest/source/described/draft/note"
)

// Limits of the request that fetches a sample reply for a draft.
const (
	draftTimeout = time.Minute
	draftBytes   = 32 << 20
)

// DraftedCase is the name of the test case that a draft creates.
const DraftedCase = "drafted"

// Drafted is a drafted description with its test case.
type Drafted struct {
	*draft.Draft

	Name, Path string
	Case       string // folder of the test case
	// Fault is why the description cannot be used before the author has filled it in, or nil if it can be used.
	Fault   error
	Fetched *conformance.Fetched // what the source fetches from the replies of the case; nil with a fault
}

// Draft drafts the description of a source. It writes the description and a test case into a folder. `from` is the URL
// of an API, or the path of a file with a reply. `headers` are headers of the request: "X-Key: ${SCHOOLS_KEY}".
// In the URL and the headers, ${NAME} stands for the environment variable NAME. If Draft fails, it leaves no files.
func Draft(ctx context.Context, name, from string, headers []string, folder string) (*Drafted, error) {
	d := &Drafted{Name: name, Path: filepath.Join(folder, name+".yaml"), Case: filepath.Join(folder, name, DraftedCase)}
	if err := described.CheckName(name); err != nil {
		return nil, fmt.Errorf("the name %q %w", name, err)
	}
	for _, path := range []string{d.Path, d.Case} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("drafting source %q: %s exists; choose another name or --dir, or remove it", name, path)
		}
	}
	in := draft.Input{Name: name, Now: time.Now().UTC().Truncate(time.Second), Headers: make(map[string]string)}
	for _, h := range headers {
		key, value, found := strings.Cut(h, ":")
		if !found {
			return nil, fmt.Errorf("drafting source %q: the header %q is not like \"X-Key: ${SCHOOLS_KEY}\"", name, key)
		}
		in.Headers[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	read := readFile
	if strings.Contains(from, "://") {
		read = request
	}
	exchange, err := read(ctx, &in, from)
	if err == nil {
		d.Draft, err = draft.New(in)
	}
	if err != nil {
		return nil, fmt.Errorf("drafting source %q: %w", name, err)
	}
	if err := d.write(ctx, exchange, in.Now); err != nil {
		return nil, err
	}
	return d, nil
}

// readFile reads a file in place of sending a request. The exchange that it returns has a made-up URL.
func readFile(_ context.Context, in *draft.Input, path string) (e ingest.Exchange, err error) {
	if in.Body, err = os.ReadFile(path); err != nil {
		return e, err
	}
	return ingest.Exchange{Request: "GET https://api.example.com/", Status: http.StatusOK, Body: string(in.Body)}, nil
}

// variable matches a reference to an environment variable.
var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// expand replaces references to environment variables by their values. It adds each value to the map `clean`, which has
// the text that replaces each secret in recorded replies. If a variable is unset or empty, expand returns an error.
func expand(text string, clean map[string]string) (string, error) {
	var missing error
	out := variable.ReplaceAllStringFunc(text, func(reference string) string {
		name := variable.FindStringSubmatch(reference)[1]
		value := os.Getenv(name)
		if value == "" {
			missing = fmt.Errorf("the environment variable %s is not set", name)
		}
		clean[value] = recording.Marker
		return value
	})
	return out, missing
}

// request sends the request for the sample reply. It returns the exchange, and stores the reply in `in`.
func request(ctx context.Context, in *draft.Input, address string) (ingest.Exchange, error) {
	in.Address = address
	secrets := make(map[string]string)
	target, err := expand(address, secrets)
	if err != nil {
		return ingest.Exchange{}, err
	}
	u, err := url.Parse(target)
	if err != nil || u.Host == "" {
		return ingest.Exchange{}, errors.New("the address is not like https://api.example.com/v1/readings")
	}
	client := fetch.NewPublic(draftTimeout, draftBytes)
	switch {
	case draft.IsLocal(u.Hostname()):
		client = fetch.New(draftTimeout, draftBytes)
	case u.Scheme != "https":
		return ingest.Exchange{}, errors.New("descriptions request public addresses with https only")
	}
	for name, values := range u.Query() {
		if draft.IsKey(name) {
			secrets[values[0]] = recording.Marker
		}
	}
	header := make(http.Header)
	for key, value := range in.Headers {
		if value, err = expand(value, secrets); err != nil {
			return ingest.Exchange{}, err
		}
		header.Set(key, value)
	}
	clean := func(text string) string {
		for value, mark := range secrets {
			if value != "" {
				text = strings.ReplaceAll(text, value, mark)
			}
		}
		return text
	}
	recorder := ingest.Recorder{Kept: 1, Whole: true}
	_, err = client.Do(ingest.WithRecorder(ctx, &recorder), fetch.Request{URL: target, Header: header, Clean: clean})
	exchanges := recorder.Exchanges()
	if err != nil {
		return ingest.Exchange{}, err
	}
	in.Body, in.Header = []byte(exchanges[0].Body), exchanges[0].Header
	return exchanges[0], nil
}

// write writes the description and its test case. The request in the case has no query, because the described source
// requests another time range than the sample.
func (d *Drafted) write(ctx context.Context, e ingest.Exchange, now time.Time) error {
	if err := os.MkdirAll(filepath.Dir(d.Path), 0o750); err != nil {
		return fmt.Errorf("drafting source %q: %w", d.Name, err)
	}
	e.Request, _, _ = strings.Cut(e.Request, "?")
	newCase := recording.New
	if d.Format {
		newCase = func(all []ingest.Exchange, _ ingest.Window, now time.Time) (*recording.Recording, error) {
			return recording.OfFile([]byte(all[0].Body), now), nil
		}
	}
	open, fault := Opener(described.File{Path: d.Path, Text: d.Text})
	d.Fault = fault
	r, err := newCase([]ingest.Exchange{e}, ingest.Window{}, now)
	if err != nil {
		return fmt.Errorf("drafting source %q: %w", d.Name, err)
	}
	r.Case.About = "the reply from which the description was drafted"
	if d.Fault != nil {
		r.Case.About += "; after filling in the description: vayu source check --accept"
		open = nil
	}
	if d.End != nil {
		r.Case.Replies = append(r.Case.Replies, conformance.Reply{File: "end.json"})
		r.Files["end.json"] = d.End
	}
	if d.Fetched, err = conformance.Write(ctx, d.Case, &r.Case, r.Files, open); err != nil {
		return fmt.Errorf("drafting source %q: %w", d.Name, err)
	}
	if err := os.WriteFile(d.Path, d.Text, 0o600); err != nil {
		_ = os.RemoveAll(d.Case)
		return fmt.Errorf("drafting source %q: %w", d.Name, err)
	}
	return nil
}

// Show writes the guesses of the draft, and what its author should do next.
func (d *Drafted) Show(w io.Writer) error {
	if err := note.Show(w, d.Guesses); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(w, "wrote %s and the case %s\n", d.Path, d.Case)
	if d.Fault != nil {
		_, _ = fmt.Fprintf(w, "Fill in the file first: %v\nThen: vayu source check %s --accept, which makes the readings of the case the expected ones\n", d.Fault, d.Path)
		return nil //nolint:nilerr // the fault is shown
	}
	_, _ = fmt.Fprintf(w, "The reply gives %d readings of %d stations", len(d.Fetched.Readings), len(d.Fetched.Stations))
	for _, reason := range slices.Sorted(maps.Keys(d.Fetched.Rejected)) {
		_, _ = fmt.Fprintf(w, ", %d × %s", d.Fetched.Rejected[reason], reason)
	}
	next := "vayu source preview " + d.Name
	if d.Format {
		next = "vayu import --dry-run FILE"
	}
	_, _ = fmt.Fprintf(w, "\nEdit the lines with GUESS and UNKNOWN. Then: vayu source check %s --accept, %s\n", d.Path, next)
	return nil
}
