package backfill

import (
	"context"
	"fmt"
	"io"
	"time"

	"vayu/internal/sleep"
)

const (
	// followInterval is the time between two queries of the progress.
	followInterval = time.Second
	// reportInterval is the time between two printed lines, if the output is not a terminal.
	reportInterval = 15 * time.Second
)

// Follow prints the progress of the last backfill of a source to w, until the backfill or ctx ends. It returns the
// backfill. On a terminal it rewrites one line.
func (s *Store) Follow(ctx context.Context, source string, w io.Writer, terminal bool) (Job, error) {
	var first Job
	var last time.Time
	for {
		j, err := s.Find(ctx, source)
		if err != nil {
			return j, err
		}
		now := s.now()
		if first.ID == "" {
			first = j
			first.Updated = now
		}
		if terminal {
			_, _ = fmt.Fprintf(w, "\r\x1b[K%s", j.line(first, now)) // clears the line
		} else if now.Sub(last) >= reportInterval || j.State != Running {
			last = now
			_, _ = fmt.Fprintln(w, j.line(first, now))
		}
		if j.State != Running || !sleep.For(ctx, followInterval) {
			if terminal {
				_, _ = fmt.Fprintln(w)
			}
			return j, ctx.Err()
		}
	}
}

// line returns the progress as one line of text. `first` is the backfill as the command read it first. If j is running
// and has progress since then, the line has an estimate of the remaining time, which uses this progress.
func (j *Job) line(first Job, now time.Time) string {
	if !j.Listed {
		return j.Source + ": listing the partitions" + j.trouble()
	}
	text := fmt.Sprintf("%s: %.1f %%, %d readings", j.Source, 100*j.Fraction, j.Stored)
	if j.Parts != 1 {
		text += fmt.Sprintf(", %d of %d partitions complete", j.Complete, j.Parts)
	}
	if j.Failing > 0 {
		text += fmt.Sprintf(", %d failing", j.Failing)
	}
	if gained := j.Fraction - first.Fraction; j.State == Running && gained > 0 {
		left := time.Duration(float64(now.Sub(first.Updated)) * (1 - j.Fraction) / gained)
		text += fmt.Sprintf(", about %s left", left.Round(time.Second))
	}
	return text + j.trouble()
}

func (j *Job) trouble() string {
	if j.Error == "" {
		return ""
	}
	return " (" + j.Error + ")"
}

// Write writes a backfill as text: its range, state and progress.
func (j *Job) Write(w io.Writer, now time.Time) error {
	_, err := fmt.Fprintf(w, "%s from %s to %s: %s\n%s\n", j.Source, j.Window.From.Format(time.RFC3339), j.Window.To.Format(time.RFC3339),
		j.State, j.line(*j, now))
	return err
}
