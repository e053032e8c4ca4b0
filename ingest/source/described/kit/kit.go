// Package kit checks sources that a description (YAML) defines. It runs the test cases of the description, and checks
// how the source behaves when its API misbehaves.
package kit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"vayu/ingest"
	"vayu/ingest/conformance"
	"vayu/ingest/source/described"
	"vayu/ingest/source/file"
)

// Result is the result of a check: [Pass], [Fail] or [Skip].
type Result string

// The results of a check.
const (
	Pass Result = "pass"
	Fail Result = "fail"
	Skip Result = "skip" // the check does not apply
)

// Row is the result of one check.
type Row struct {
	Check  string `json:"check"`
	Result Result `json:"result"`
	Reason string `json:"reason"`
}

// Report has the results of all checks of a source.
type Report struct {
	Source string `json:"source"`
	Checks []Row  `json:"checks"`
}

func (r *Report) add(check string, result Result, format string, args ...any) {
	r.Checks = append(r.Checks, Row{check, result, fmt.Sprintf(format, args...)})
}

// Failed returns the number of failed checks.
func (r *Report) Failed() int {
	n := 0
	for _, row := range r.Checks {
		if row.Result == Fail {
			n++
		}
	}
	return n
}

// Err returns an error if a check failed.
func (r *Report) Err() error {
	if n := r.Failed(); n > 0 {
		return fmt.Errorf("%d of %d checks of source %q failed", n, len(r.Checks), r.Source)
	}
	return nil
}

// Show writes the report as a table, or as a JSON object.
func (r *Report) Show(w io.Writer, asJSON bool) error {
	if asJSON {
		out := json.NewEncoder(w)
		out.SetEscapeHTML(false)
		return out.Encode(r)
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(out, "CHECK\tRESULT\tREASON")
	for _, row := range r.Checks {
		first, more, _ := strings.Cut(strings.TrimSpace(row.Reason), "\n")
		_, _ = fmt.Fprintf(out, "%s\t%s\t%s\n", row.Check, row.Result, first)
		for line := range strings.Lines(more) {
			_, _ = fmt.Fprintf(out, "\t\t  %s\n", strings.TrimRight(line, "\n"))
		}
	}
	return out.Flush()
}

// anyKey is an environment in which every variable has the value [conformance.Key].
func anyKey(string) (string, bool) { return conformance.Key, true }

// noSleep is a [budget.Sleep] that returns at once.
func noSleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// formatSource is the source name of the readings in the test cases of a file format.
const formatSource = "import"

// Opener returns a function that builds the source of a description for a test case. Every environment variable has the
// value [conformance.Key]. If the case has an input, the source reads that file or folder in place of replies.
func Opener(f described.File) (conformance.Opener, error) {
	f.Env = anyKey
	d, err := described.Parse(f)
	if err != nil {
		return nil, err
	}
	_, inFolder := d.ReadsFiles()
	return func(c *conformance.Case) (ingest.Source, error) {
		switch {
		case c.Input == "":
			return d.NewAgainst(c.Host(), c.Clock, noSleep), nil
		case d.Stream(c.Clock) != nil:
			return d.Stream(c.Clock).Replay(c.Path), nil
		case inFolder:
			return d.NewIn(c.Path, c.Clock), nil
		case d.Format == nil:
			return nil, fmt.Errorf("source %q: a case has an input, and the description has neither recognise nor files.folder", d.Name)
		}
		return file.Open(formatSource, c.Path, 0, c.Clock, []file.Format{d.Format})
	}, nil
}

// Check runs the test cases in a folder. Then it checks the source against a fake API that is built from the replies
// of one case. The error means that Check could not run, because the description or a case is invalid.
func Check(ctx context.Context, f described.File, folder string) (*Report, error) {
	open, err := Opener(f)
	if err != nil {
		return nil, err
	}
	f.Env = anyKey
	d, err := described.Parse(f)
	if err != nil {
		return nil, err
	}
	folders, err := conformance.Folders(folder)
	if err != nil && !os.IsNotExist(err) || len(folders) == 0 {
		return nil, fmt.Errorf("source %q has no case in %s; record one: vayu source record %[1]s", d.Name, folder)
	}
	r := &Report{Source: d.Name}
	r.checkTerms(d)
	var best *conformance.Case
	most := 0
	for _, dir := range folders {
		c, err := conformance.Load(dir)
		if err != nil {
			return nil, err
		}
		faults, err := c.Check(ctx, open)
		if err != nil {
			return nil, err
		}
		r.addCase(c, faults)
		if n, err := c.Readings(); err == nil && len(faults) == 0 && n > most {
			best, most = c, n
		}
	}
	if d.Stream(time.Now) != nil { // the other checks are about requests and lists
		return r, nil
	}
	if err := r.checkPaths(ctx, open, folders); err != nil {
		return nil, err
	}
	if best == nil {
		r.add("conformance", Fail, "no case that passes has readings; record one: vayu source record %s", d.Name)
		return r, nil
	}
	if files, _ := d.ReadsFiles(); files || !d.Fetches() {
		return r, nil
	}
	if err := r.checkHazards(ctx, d, best); err != nil {
		return nil, err
	}
	return r, nil
}

// CheckAt does the same as [Check]. If the folder does not exist and the description is shipped with the program,
// CheckAt uses the test cases that are shipped with the description.
func CheckAt(ctx context.Context, f described.File, folder string) (*Report, error) {
	if _, err := os.Stat(folder); err == nil || !f.Shipped {
		return Check(ctx, f, folder)
	}
	dir, err := os.MkdirTemp("", "vayu-cases-")
	if err != nil {
		return nil, fmt.Errorf("copying the cases: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	cases := filepath.Join(dir, "cases")
	if err := described.CopyCases(described.NameOf(f.Path), cases); err != nil {
		return nil, err
	}
	return Check(ctx, f, cases)
}

// Accept runs all test cases in a folder, and stores the results as the expected results.
func Accept(ctx context.Context, w io.Writer, f described.File, folder string) error {
	open, err := Opener(f)
	if err != nil {
		return err
	}
	folders, err := conformance.Folders(folder)
	if err != nil {
		return err
	}
	for _, dir := range folders {
		c, err := conformance.Load(dir)
		if err != nil {
			return err
		}
		got, err := c.Accept(ctx, open)
		if errors.Is(err, conformance.ErrOtherRequests) {
			return fmt.Errorf("%w; the case has other requests than the description: delete the folder %s, and record it again: vayu source record %s --case %s",
				err, dir, described.NameOf(f.Path), c.Name())
		}
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(w, "accepted %s: %d readings, %d rejected values\n", dir, len(got.Readings), total(got.Rejected))
	}
	return nil
}

// checkTerms checks that the description states the network's licence and attribution.
func (r *Report) checkTerms(d *described.Description) {
	for key, text := range map[string]string{"licence": d.Licence, "attribution": d.Attribution} {
		if strings.EqualFold(text, described.Unset) {
			r.add("terms", Fail, "the key %s is %q: clients get this text; take it from the terms of the network", key, text)
			return
		}
	}
	r.add("terms", Pass, "%s, %s", d.Licence, d.Attribution)
}

func (r *Report) addCase(c *conformance.Case, faults []conformance.Fault) {
	name := "case " + c.Name()
	if len(faults) == 0 {
		r.add(name, Pass, "%s", c.About)
		return
	}
	var all []string
	for _, f := range faults {
		all = append(all, f.Part+": "+f.Text)
	}
	all = append(all, "after a change of the description that is meant: vayu source check --accept")
	r.add(name, Fail, "%s", strings.Join(all, "\n"))
}
