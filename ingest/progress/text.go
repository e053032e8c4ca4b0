package progress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"vayu/ingest"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// layout is the format of times for operators, in UTC.
const layout = "2006-01-02 15:04"

// WriteWatermarks writes the watermark of a source and those of its partitions as text. It writes at most `most`
// partitions.
func WriteWatermarks(w io.Writer, source string, all []Watermark, most int, now time.Time) error {
	if len(all) == 0 {
		_, err := fmt.Fprintf(w, "%s was never fetched\n", source)
		return err
	}
	parts := all
	if all[0].Partition == "" {
		_, _ = fmt.Fprintf(w, "%s is fetched up to %s UTC (%s ago)\n", source, all[0].At.Format(layout), now.Sub(all[0].At).Round(time.Minute))
		parts = all[1:]
	}
	if len(parts) == 0 {
		return nil
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(out, "PARTITION\tFETCHED UP TO (UTC)\tFAILURES")
	for _, p := range parts[:min(most, len(parts))] {
		_, _ = fmt.Fprintf(out, "%s\t%s\t%d\n", p.Partition, p.At.Format(layout), p.Failures)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing the watermarks: %w", err)
	}
	if more := len(parts) - most; more > 0 {
		_, _ = fmt.Fprintf(w, "… and %d partitions more\n", more)
	}
	return nil
}

// SetText parses a day or a time in RFC 3339, and calls [Store.SetWatermark]. Errors name the flags --set and
// --partition.
func (s *Store) SetText(ctx context.Context, source, partition, text string) error {
	at, err := ingest.ParseInstant(text, schema.Day.Start)
	if err == nil {
		err = s.SetWatermark(ctx, source, partition, at)
	}
	if errors.Is(err, ErrNoPartition) {
		return fmt.Errorf("--partition %q: %w", partition, err)
	}
	if err != nil {
		return fmt.Errorf("--set: %w", err)
	}
	return nil
}

// Texts returns the watermarks of the sources of both worlds as text, by the name of the source. A source belongs to
// only one of the worlds. A source without a watermark has no entry.
func Texts(ctx context.Context, db *sqlstore.DB, local string) (map[string]string, error) {
	texts := make(map[string]string)
	for _, w := range schema.Worlds {
		all, err := New(db, Scope(w, local), time.Now).Sources(ctx)
		if err != nil {
			return nil, err
		}
		for name, p := range all {
			if p.Watermark == nil {
				continue
			}
			texts[name] = p.Watermark.Format(layout)
			if p.Failing > 0 {
				texts[name] += fmt.Sprintf(", %d partitions fail", p.Failing)
			}
		}
	}
	return texts, nil
}
