// Package reconcile compares a provider's daily file with the store, and settles differences automatically where
// possible. It also lists recharges that need an investigation even without a file.
package reconcile

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"vayu/internal/sqlstore"
	"vayu/pipeline/csvfile"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/schema"
)

// Settler applies a provider's result to a recharge. [recharge.Service] implements it.
type Settler interface {
	// Settle applies an answer to the recharge with a reference. The argument `by` is the source in
	// the audit log. Settle is idempotent.
	Settle(ctx context.Context, world schema.World, provider, reference string, a order.Answer, by string) (record.Record, error)
}

// Comparison compares a file of a provider with the store.
type Comparison struct {
	DB       *sqlstore.DB
	World    schema.World
	Provider string
	Layout   Layout
	// From and To limit the creation times of the recharges that the file must have; To is
	// exclusive. If From is zero, recharges that the file lacks are not reported.
	From, To time.Time
	// Settler applies automatic actions; nil disables them.
	Settler Settler
}

// Difference is a line of the file, or a recharge without a line, on which the file and the store do not agree.
type Difference struct {
	Kind Kind
	Line *Line          // nil for a missing or unreadable line
	At   int            // number of the line; 0 for none
	Ours *record.Record // recharge before the settlement; nil if there is none
	// Settled is the effect of the automatic action; nil if none was tried.
	Settled *Settled
	// Text is the error of an unreadable line.
	Text string
}

// Settled is the state in which an automatic action left a recharge.
type Settled struct {
	State schema.RechargeState
	Alarm string
	// Done means that the recharge has the proposed state or alarm. Otherwise the action was
	// refused, or the recharge has changed meanwhile.
	Done bool
	// Refusal is the reason of a refused settlement, otherwise "".
	Refusal string
}

// Counts counts lines of the file, and recharges without a line. It adds up their amounts in the file and in the store.
type Counts struct {
	Count      int
	File, Ours schema.Paise
}

func (t Counts) with(l *Line, r *record.Record) Counts {
	t.Count++
	if l != nil {
		t.File += l.Amount
	}
	if r != nil {
		t.Ours += r.Amount
	}
	return t
}

// Summary is the result of a comparison.
type Summary struct {
	Lines   int // lines that [Parse] yields, unreadable ones included
	Matches map[Status]Counts
	Kinds   map[Kind]Counts
	// Resolved counts the differences whose alarm was resolved. These differences are not reported.
	Resolved Counts
	Done     map[Kind]int // number of differences settled as proposed
	// Left counts the differences that Run has not settled, and all of kind Suspense, which need an investigation.
	Left int
}

// groupSize is the number of lines that are looked up in the store together.
const groupSize = 256

// run is a comparison in progress.
type run struct {
	*Comparison
	ctx    context.Context //nolint:containedctx // ends the run
	report func(Difference) error
	seen   map[key]uint32 // number of lines by reference
	sum    Summary
}

// key is the hash of a reference. It saves memory, because a file may have a million references.
type key [16]byte

func keyOf(reference string) key {
	sum := sha256.Sum256([]byte(reference))
	return key(sum[:16])
}

// Run reads the file twice. The first pass collects the references, to detect duplicates. The second pass calls
// `tell` for every difference, unless an alarm for the difference was resolved. Then Run calls `tell` for the
// recharges that the file lacks, unless From is zero. If `tell` fails, Run returns its error. After an error, the
// summary covers the work before the error. The caller may call Run again, because Settle is idempotent.
func (c *Comparison) Run(ctx context.Context, file io.ReadSeeker, tell func(Difference) error) (Summary, error) {
	r := &run{Comparison: c, ctx: ctx, report: tell, seen: map[key]uint32{}}
	r.sum = Summary{Matches: map[Status]Counts{}, Kinds: map[Kind]Counts{}, Done: map[Kind]int{}}
	err := r.eachLine(file, func(l *Line) error {
		r.seen[keyOf(l.Reference)]++
		return nil
	}, func(*csvfile.LineError) error { return nil })
	if err != nil {
		return r.sum, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return r.sum, fmt.Errorf("reading the file again: %w", err)
	}
	group := make([]*Line, 0, groupSize)
	err = r.eachLine(file, func(l *Line) error {
		r.sum.Lines++
		if group = append(group, l); len(group) < groupSize {
			return nil
		}
		err := r.processGroup(group)
		group = group[:0]
		return err
	}, func(bad *csvfile.LineError) error {
		r.sum.Lines++
		return r.count(&Difference{Kind: Unreadable, At: bad.Number, Text: bad.Text})
	})
	if err == nil {
		err = r.processGroup(group)
	}
	if err == nil && !c.From.IsZero() {
		err = r.reportAbsent()
	}
	return r.sum, err
}

// eachLine calls `do` for every readable line of the file, and `unreadable` for every other line.
func (r *run) eachLine(file io.Reader, do func(*Line) error, unreadable func(*csvfile.LineError) error) error {
	for line, err := range Parse(file, r.Layout) {
		bad, isLine := errors.AsType[*csvfile.LineError](err)
		switch {
		case r.ctx.Err() != nil:
			return r.ctx.Err()
		case isLine:
			err = unreadable(bad)
		case err == nil:
			err = do(&line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reportAbsent reports recharges that the file lacks, created between From and To, unless their alarm is resolved.
func (r *run) reportAbsent() error {
	first, end := idsFrom(r.From.Add(-clockMargin)), idsFrom(r.To.Add(clockMargin))
	return pages(r.DB.View(r.ctx), selectAbsent, func(last *record.Record) []any {
		return []any{r.World.String(), r.Provider, max(first, last.Reference), end, r.From.UnixMicro(), r.To.UnixMicro(), pageSize}
	}, func(ours *record.Record) error {
		d := &Difference{Kind: Absent, Ours: ours}
		if r.seen[keyOf(ours.Reference)] > 0 || r.isResolved(d) {
			return nil
		}
		return r.count(d)
	})
}

// isResolved reports whether the alarm of a difference was resolved. If so, it counts the difference as resolved.
func (r *run) isResolved(d *Difference) bool {
	if d.Ours == nil || !isResolved(d.Ours, d.Kind) {
		return false
	}
	r.sum.Resolved = r.sum.Resolved.with(d.Line, d.Ours)
	return true
}

// count adds a difference to the summary, and reports it.
func (r *run) count(d *Difference) error {
	r.sum.Kinds[d.Kind] = r.sum.Kinds[d.Kind].with(d.Line, d.Ours)
	done := d.Settled != nil && d.Settled.Done
	if done {
		r.sum.Done[d.Kind]++
	}
	if !done || d.Kind == Suspense {
		r.sum.Left++
	}
	return r.report(*d)
}
