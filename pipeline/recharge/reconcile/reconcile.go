// Package reconcile compares a provider's daily file with the store, and settles differences
// automatically where possible. It also lists recharges that need an investigation even without a
// file.
package reconcile

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"vayu/internal/sqlstore"
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

// Difference is a line or a recharge on which the file and the store do not agree.
type Difference struct {
	Kind Kind
	Line *Line   // nil for a missing or unreadable line
	At   int     // number of the line; 0 for none
	Ours *Record // recharge before the settlement; nil if there is none
	// Settled is the effect of the automatic action; nil if none was tried.
	Settled *Settled
	// Text is the error of an unreadable line.
	Text string
}

// Settled is the state in which an automatic action left a recharge.
type Settled struct {
	State schema.RechargeState
	Alarm string
	// Done means that the recharge has the proposed state or alarm. Otherwise the settlement was
	// refused, or the recharge changed meanwhile.
	Done bool
	// Refusal is the reason of a refused settlement, otherwise "".
	Refusal string
}

// Counts counts lines of the file, and recharges without a line. It adds up their amounts in the
// file and in the store.
type Counts struct {
	Count      int
	File, Ours schema.Paise
}

func (t Counts) with(l *Line, r *Record) Counts {
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
	// Left is the number of differences that need an investigation, or were not settled.
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

// Run reads the file twice, the first time to collect its references. It calls tell for every
// difference, unless an alarm for that difference was resolved. The lines come first, and then the
// recharges that the file lacks. If tell fails, Run returns the error of tell. After an error, the
// summary has what was done before the error. Running again is safe, because Settle is idempotent.
func (c *Comparison) Run(ctx context.Context, file io.ReadSeeker, tell func(Difference) error) (Summary, error) {
	r := &run{Comparison: c, ctx: ctx, report: tell, seen: map[key]uint32{}}
	r.sum = Summary{Matches: map[Status]Counts{}, Kinds: map[Kind]Counts{}, Done: map[Kind]int{}}
	err := r.eachLine(file, func(l *Line, _ *LineError) error {
		if l != nil {
			r.seen[keyOf(l.Reference)]++
		}
		return nil
	})
	if err != nil {
		return r.sum, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return r.sum, fmt.Errorf("reading the file again: %w", err)
	}
	group := make([]*Line, 0, groupSize)
	flush := func() error {
		err := r.processGroup(group)
		group = group[:0]
		return err
	}
	err = r.eachLine(file, func(l *Line, bad *LineError) error {
		r.sum.Lines++
		if bad != nil {
			return r.reportUnreadable(bad)
		}
		if group = append(group, l); len(group) == groupSize {
			return flush()
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	if err == nil && !c.From.IsZero() {
		err = r.reportAbsent()
	}
	return r.sum, err
}

// eachLine calls do for every line of the file. For an unreadable line, do gets a nil line and the
// error.
func (r *run) eachLine(file io.Reader, do func(*Line, *LineError) error) error {
	for line, err := range Parse(file, r.Layout) {
		if r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		bad, isBad := errors.AsType[*LineError](err)
		if err != nil && !isBad {
			return err
		}
		one := &line
		if isBad {
			one = nil
		}
		if err := do(one, bad); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) reportUnreadable(bad *LineError) error {
	r.sum.Kinds[Unreadable] = r.sum.Kinds[Unreadable].with(nil, nil)
	r.sum.Left++
	return r.report(Difference{Kind: Unreadable, At: bad.Number, Text: bad.Text})
}

// reportAbsent reports the recharges that the file lacks.
func (r *run) reportAbsent() error {
	after, end := idsFrom(r.From.Add(-clockMargin)), idsFrom(r.To.Add(clockMargin))
	for {
		page, err := sqlstore.All(r.DB.View(r.ctx), scan, selectAbsent,
			r.World.String(), r.Provider, after, end, r.From.UnixMicro(), r.To.UnixMicro(), pageSize)
		if err != nil {
			return fmt.Errorf("finding recharges that the file lacks: %w", err)
		}
		for i := range page {
			if r.seen[keyOf(page[i].Reference)] > 0 {
				continue
			}
			if page[i].isResolved(Absent) {
				r.sum.Resolved = r.sum.Resolved.with(nil, &page[i])
				continue
			}
			r.sum.Kinds[Absent] = r.sum.Kinds[Absent].with(nil, &page[i])
			r.sum.Left++
			if err := r.report(Difference{Kind: Absent, Ours: &page[i]}); err != nil {
				return err
			}
		}
		if len(page) < pageSize {
			return nil
		}
		after = page[len(page)-1].Reference
	}
}
