package recharge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vayu/internal/panics"
	"vayu/pipeline/recharge/numbering"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/recharge/settle"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// detectTimeout limits the total time of the lookups at all providers, so that a reply comes soon
// even if no provider answers.
const detectTimeout = 2 * time.Second

// detect finds the operator of a mobile number. It queries providers first, because their lookups include ported
// numbers. If no provider finds the operator, the number's series (first digits) decides. `source` is the value of
// the column "detection". `ok` is false if the operator was not found.
func (s *Service) detect(ctx context.Context, world schema.World, number string) (sub order.Subscriber, source string, ok bool) {
	if sub, err := s.lookup(ctx, world, number); err == nil && sub.Operator != "" {
		return sub, record.SourceLookup, true
	}
	if operator, circle, ok := numbering.Series(number); ok {
		return order.Subscriber{Operator: operator, Circle: circle}, record.SourceSeries, true
	}
	return order.Subscriber{}, "", false
}

// errLookupFailed means that no provider has found the number, and at least one was unavailable or failed.
var errLookupFailed = errors.New("the operator of the number could not be looked up")

// lookup queries the providers of a world (live or sandbox) for a number, one after the other, until a provider finds
// it. A zero Subscriber without an error means that no provider has the number.
func (s *Service) lookup(ctx context.Context, world schema.World, number string) (order.Subscriber, error) {
	limit, done := context.WithTimeout(ctx, detectTimeout)
	defer done()
	var unclear error
	for _, conn := range s.connections {
		if conn.World != world || conn.Directory == nil {
			continue
		}
		if !conn.Pool.IsAvailable() {
			unclear = errLookupFailed
			continue
		}
		began := time.Now()
		sub, err := detectRecovering(limit, conn.Directory, number)
		result := "known"
		switch {
		case errors.Is(err, order.ErrNoDetection):
			continue
		case err != nil:
			unclear = errLookupFailed
			result = transaction.ErrorLabel(err)
			s.Log.WarnContext(ctx, "a number could not be looked up", "provider", conn.Name, "world", world.String(), "error", err)
		case sub.Operator == "":
			result = "unknown"
		}
		s.metrics.ObserveCall(conn.Name, "detect", result, time.Since(began))
		if result == "known" {
			return sub, nil
		}
		if limit.Err() != nil {
			return order.Subscriber{}, errLookupFailed
		}
	}
	return order.Subscriber{}, unclear
}

func detectRecovering(ctx context.Context, d order.Directory, number string) (sub order.Subscriber, err error) {
	err = panics.Catch(func() (err error) {
		sub, err = d.Detect(ctx, number)
		return err
	})
	if p, ok := errors.AsType[*panics.Error](err); ok {
		err = fmt.Errorf("%w: %w", transaction.ErrPanic, p)
	}
	sub.Operator, sub.Circle = settle.CleanText(sub.Operator), settle.CleanText(sub.Circle)
	return sub, err
}

// redetect looks up the operator again if the provider rejected the number and mayRedetect permits a lookup. If another
// connected operator has the number, it sets res.Reroute. It acquires a slot of that operator's connection if one is
// free, and the method reroute uses or releases the slot. If the lookup fails, redetect sets res.Err.
func (s *Service) redetect(ctx context.Context, r *record.Record, res *settle.Result) {
	if res.Err != nil || res.Outcome != order.NotSubscriber || !mayRedetect(r) || r.Reference != res.Reference {
		return
	}
	sub, err := s.lookup(ctx, r.Owner.World, r.Number)
	if res.Err = err; err != nil || sub.Operator == "" || sub.Operator == r.Operator {
		return
	}
	conn, available := s.route(r.Owner.World, sub.Operator)
	if conn == nil {
		return
	}
	res.Reroute = &settle.Reroute{Connection: conn, Subscriber: sub}
	if available && conn.Pool.TryAcquire(r.InBatch()) {
		res.Reroute.Lease = s.Queue.NewLease(conn.Pool)
	}
}

// mayRedetect reports whether redetect may look up the operator again after the provider has rejected the number. The
// recharge must be pending and prepaid. The client must not have named the operator, and there must be no second order.
func mayRedetect(r *record.Record) bool {
	return r.State == schema.RechargePending && r.RequestedOperator == "" && r.Reference == r.ID && r.Type == schema.Prepaid
}
