package sqlstore

import (
	"cmp"
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"vayu/internal/panics"
	"vayu/internal/sqlstore/server"
)

// errAlone is the error of a change whose group was rolled back, possibly because of another change. The change then
// runs in a transaction of its own.
var errAlone = errors.New("the group of the change was rolled back")

// update makes a change in a transaction of its own. If ctx has a group (see [WithGroup]), the change instead shares a
// transaction with waiting changes of the group.
func (p *postgres) update(ctx context.Context, do func(*Tx) error) error {
	name, grouped := ctx.Value(groupKey{}).(string)
	if !grouped {
		return p.alone(ctx, do)
	}
	c := &change{ctx: ctx, do: do, done: make(chan struct{})}
	p.mu.Lock()
	waiting, running := p.waiting[name]
	p.waiting[name] = append(waiting, c)
	p.mu.Unlock()
	if !running {
		go p.commitGroups(context.WithoutCancel(ctx), name)
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		if c.claimed.CompareAndSwap(false, true) {
			return ctx.Err()
		}
		<-c.done
	}
	if errors.Is(c.err, errAlone) {
		return p.alone(ctx, do)
	}
	return c.err
}

// commitGroups commits the waiting changes of a group, up to maxGroup in a transaction, until none waits.
func (p *postgres) commitGroups(ctx context.Context, name string) {
	for p.anyWaiting(name) {
		var group []*change
		var whole *Tx
		err := p.runOnce(ctx, &pgx.Batch{}, func(tx *Tx) error {
			group, whole = p.take(name), tx
			return panics.Catch(func() error { return tx.runGroup(group) })
		})
		switch {
		case group == nil: // no transaction began
			group = p.take(name)
		case err != nil && (server.Conflict(err) || p.fault(err) == faultStatement && !errors.Is(err, errUnknown)):
			err = errAlone
		}
		for _, c := range group {
			c.err = cmp.Or(c.err, err)
			close(c.done)
		}
		if err == nil {
			for _, then := range whole.after { // registered by functions of AtEnd
				then()
			}
		}
	}
}

// anyWaiting reports whether changes of a group wait. If none waits, it removes the group from the map.
func (p *postgres) anyWaiting(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting[name]) > 0 {
		return true
	}
	delete(p.waiting, name)
	return false
}

// take removes and returns the first waiting changes of a group, at most maxGroup.
func (p *postgres) take(name string) []*change {
	p.mu.Lock()
	defer p.mu.Unlock()
	waiting := p.waiting[name]
	n := min(maxGroup, len(waiting))
	p.waiting[name] = waiting[n:]
	return waiting[:n]
}

// runGroup runs the changes of a group in order. It skips changes whose caller gave up, and stops at the first error.
func (tx *Tx) runGroup(group []*change) error {
	for _, c := range group {
		if !c.claimed.CompareAndSwap(false, true) { // its caller has given up
			continue
		}
		if c.err = c.ctx.Err(); c.err != nil {
			continue
		}
		one := &Tx{ctx: tx.ctx, session: tx.session, db: tx.db, unit: tx.unit}
		if err := one.result(c.do(one)); err != nil {
			return err
		}
	}
	return nil
}
