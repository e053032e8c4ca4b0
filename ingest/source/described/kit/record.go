package kit

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"vayu/ingest"
	"vayu/ingest/conformance"
	"vayu/ingest/preview"
	"vayu/ingest/recording"
	"vayu/ingest/source/described"
)

// Recorded is a newly recorded test case.
type Recorded struct {
	Folder   string
	Case     *conformance.Case
	Fetched  *conformance.Fetched // what the source fetches from the replies of the case
	Replaced map[string]int       // number of replaced values, by the name of the field

	// Absent are the paths in the description that no record has.
	Absent []ingest.Path

	messages int // number of messages; 0 if the case has replies
}

// Record fetches a window of a source, and creates a test case in a new folder from the requests and replies. If the
// fetch fails, the case expects the same error. If the case yields other results, Record returns it with an error.
func Record(ctx context.Context, f described.File, w ingest.Window, folder string) (*Recorded, error) {
	f.Env = os.LookupEnv
	d, err := described.Parse(f)
	if err != nil {
		return nil, err
	}
	// Times in a case have whole seconds, so the source's clock starts at a whole second.
	began := time.Now()
	start := began.UTC().Truncate(time.Second)
	if w.To.IsZero() || w.To.After(start) {
		w.To = start
	}
	src, err := d.New(d.Name, func() time.Time { return start.Add(time.Since(began)) })
	if err != nil {
		return nil, err
	}
	recorder := ingest.Recorder{Kept: recording.Most, Whole: true, Paths: new(ingest.Paths)}
	live, failed := conformance.Fetch(ingest.WithRecorder(ctx, &recorder), src, w, start)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if n := recorder.Received().Requests; n > recording.Most {
		return nil, fmt.Errorf("recording source %q: the fetch has %d requests, a case has at most %d; choose a shorter window with --from and --to", d.Name, n, recording.Most)
	}
	var out *Recorded
	if d.Stream(time.Now) != nil {
		out, err = writeMessages(ctx, f, recorder.Exchanges(), folder)
	} else {
		out, err = Write(ctx, f, recorder.Exchanges(), w, start, folder)
	}
	if err != nil {
		return nil, err
	}
	out.Absent = recorder.Paths.Absent()
	if len(out.Fetched.Readings) != len(live.Readings) {
		return out, fmt.Errorf("recording source %q: the case has %d readings, and the fetch had %d", d.Name, len(out.Fetched.Readings), len(live.Readings))
	}
	if failed != nil && out.Case.Error == "" {
		return out, fmt.Errorf("recording source %q: the case does not repeat the error: %w", d.Name, failed)
	}
	return out, nil
}

// Write creates a test case of a description in a new folder, from recorded requests and replies. w is the window of
// the fetch. `now` is the time of the fetch, which the case uses as the current time.
func Write(ctx context.Context, f described.File, exchanges []ingest.Exchange, w ingest.Window, now time.Time, folder string) (*Recorded, error) {
	r, err := recording.New(exchanges, w, now)
	if err != nil {
		return nil, err
	}
	return write(ctx, f, r, folder)
}

// writeMessages creates a test case of a description in a new folder, from recorded messages.
func writeMessages(ctx context.Context, f described.File, exchanges []ingest.Exchange, folder string) (*Recorded, error) {
	r, err := recording.OfMessages(exchanges)
	if err != nil {
		return nil, err
	}
	return write(ctx, f, r, folder)
}

func write(ctx context.Context, f described.File, r *recording.Recording, folder string) (*Recorded, error) {
	open, err := Opener(f)
	if err != nil {
		return nil, err
	}
	got, err := conformance.Write(ctx, folder, &r.Case, r.Files, open)
	if err != nil {
		return nil, err
	}
	out := &Recorded{Folder: folder, Case: &r.Case, Fetched: got, Replaced: r.Replaced}
	if r.Case.Input == recording.MessagesFile {
		out.messages = bytes.Count(r.Files[r.Case.Input], []byte{'\n'})
	}
	return out, nil
}

// Text writes a summary of the recorded case. If r is nil, it writes nothing.
func (r *Recorded) Text(w io.Writer) {
	if r == nil {
		return
	}
	what := fmt.Sprintf("%d replies", len(r.Case.Replies))
	if r.messages > 0 {
		what = fmt.Sprintf("%d messages", r.messages)
	}
	_, _ = fmt.Fprintf(w, "%s: %s, %d readings of %d stations, %d rejected values\n", r.Folder, what,
		len(r.Fetched.Readings), len(r.Fetched.Stations), total(r.Fetched.Rejected))
	if r.Case.Error != "" {
		_, _ = fmt.Fprintf(w, "expected error: %s\n", r.Case.Error)
	}
	preview.Absent(w, r.Absent)
	if len(r.Replaced) == 0 {
		_, _ = fmt.Fprintln(w, "no value was replaced; read the replies before you publish them")
		return
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(r.Replaced)) {
		all = append(all, fmt.Sprintf("%s (%d)", name, r.Replaced[name]))
	}
	_, _ = fmt.Fprintf(w, "replaced values: %s; read the replies before you publish them\n", strings.Join(all, ", "))
}
