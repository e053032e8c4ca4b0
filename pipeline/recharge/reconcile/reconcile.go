// Package reconcile compares what an operator says of a day with what is in the
// store, and settles what can be settled. It also knows which recharges people must
// look at whatever a file says.
package reconcile

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"vayu/internal/sqlstore"
	"vayu/pipeline/recharge"
	"vayu/schema"
)

// Settler acts on a provider's word: [recharge.Service].
type Settler interface {
	// Settle is repeated without effect.
	Settle(ctx context.Context, world schema.World, provider, reference string, a recharge.Answer, by string) (recharge.Record, error)
}

// Comparison is a file of a provider and what it is compared with.
type Comparison struct {
	DB       *sqlstore.DB
	World    schema.World
	Provider string
	Layout   Layout
	// From and To are when the recharges were made that the file must have, To not
	// among them. When From is zero nothing is missed.
	From, To time.Time
	// Settler carries out what is automatic; nil for nobody.
	Settler Settler
}

// Difference is one way in which the file and the store differ.
type Difference struct {
	Kind Kind
	Line *Line   // nil when it is about no line, or about one that cannot be read
	At   int     // number of the line; 0 for none
	Ours *Record // as it was before; nil when there is none
	// Settled is what has become of it by Settler; nil when nothing was tried.
	Settled *Settled
	// Text says what is wrong with a line that cannot be read.
	Text string
}

// Settled is what has become of a recharge.
type Settled struct {
	State schema.RechargeState
	Alarm string
	// Done is that it is now as was proposed. It may have gone another way meanwhile.
	Done bool
	// Refusal says why nothing was done.
	Refusal string
}

// Tally counts, and adds up what the file and the store say.
type Tally struct {
	Count      int
	File, Ours schema.Paise
}

func (t Tally) with(l *Line, r *Record) Tally {
	t.Count++
	if l != nil {
		t.File += l.Amount
	}
	if r != nil {
		t.Ours += r.Amount
	}
	return t
}

// Summary is the outcome of a comparison.
type Summary struct {
	Lines   int // with something on them, also such as cannot be read
	Matches map[Status]Tally
	Kinds   map[Kind]Tally
	// Resolved is what differs and is no difference any more, because a person has
	// resolved its alarm. It is not told.
	Resolved Tally
	Done     map[Kind]int // settled as proposed
	// Left is how many differences people must look at, or nobody has acted on.
	Left int
}

// groupMost is how many lines are looked at together.
const groupMost = 256

// run is a comparison under way.
type run struct {
	*Comparison
	ctx  context.Context //nolint:containedctx // of the run, which it ends with
	tell func(Difference) error
	seen map[key]uint32 // how often a reference is in the file
	sum  Summary
}

// key stands for a reference: a file has a million of them.
type key [16]byte

func keyOf(reference string) key {
	sum := sha256.Sum256([]byte(reference))
	return key(sum[:16])
}

// Run reads the file twice, first to learn which references it has, and tells every
// difference: lines in the order of the file, and then what the file lacks. The
// error of tell ends it and is returned. What was done before an error is in the
// summary, and running again goes on from there.
func (c *Comparison) Run(ctx context.Context, file io.ReadSeeker, tell func(Difference) error) (Summary, error) {
	r := &run{Comparison: c, ctx: ctx, tell: tell, seen: map[key]uint32{}}
	r.sum = Summary{Matches: map[Status]Tally{}, Kinds: map[Kind]Tally{}, Done: map[Kind]int{}}
	err := r.lines(file, func(l *Line, _ *LineError) error {
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
	group := make([]*Line, 0, groupMost)
	flush := func() error {
		err := r.group(group)
		group = group[:0]
		return err
	}
	err = r.lines(file, func(l *Line, bad *LineError) error {
		r.sum.Lines++
		if bad != nil {
			return r.unreadable(bad)
		}
		if group = append(group, l); len(group) == groupMost {
			return flush()
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	if err == nil && !c.From.IsZero() {
		err = r.absent()
	}
	return r.sum, err
}

// lines calls do for every line of the file.
func (r *run) lines(file io.Reader, do func(*Line, *LineError) error) error {
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

func (r *run) unreadable(bad *LineError) error {
	r.sum.Kinds[Unreadable] = r.sum.Kinds[Unreadable].with(nil, nil)
	r.sum.Left++
	return r.tell(Difference{Kind: Unreadable, At: bad.Number, Text: bad.Text})
}

// absent tells what the file lacks.
func (r *run) absent() error {
	after, end := idsFrom(r.From.Add(-slack)), idsFrom(r.To.Add(slack))
	for {
		page, err := sqlstore.All(r.DB.View(r.ctx), scan, selectAbsent,
			r.World.String(), r.Provider, after, end, r.From.UnixMicro(), r.To.UnixMicro(), pageMost)
		if err != nil {
			return fmt.Errorf("looking for recharges that the file lacks: %w", err)
		}
		for i := range page {
			if r.seen[keyOf(page[i].Reference)] > 0 {
				continue
			}
			if page[i].explained(Absent) {
				r.sum.Resolved = r.sum.Resolved.with(nil, &page[i])
				continue
			}
			r.sum.Kinds[Absent] = r.sum.Kinds[Absent].with(nil, &page[i])
			r.sum.Left++
			if err := r.tell(Difference{Kind: Absent, Ours: &page[i]}); err != nil {
				return err
			}
		}
		if len(page) < pageMost {
			return nil
		}
		after = page[len(page)-1].Reference
	}
}
