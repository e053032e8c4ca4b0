package recharge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vayu/pipeline/recharge/numbering"
	"vayu/schema"
)

// Where an operator is known from: the column detection.
const (
	sourceLookup = "lookup"
	sourceSeries = "series"
)

// detectMost is how long providers are asked whose a number is: a reply comes
// within a second when one of them is well, and soon when none is.
const detectMost = 2 * time.Second

// detect finds out whose a mobile number is: from the providers, who know ported
// numbers, and then from whom its series was given to first. Source says which; it
// is not ok when neither knows.
func (s *Service) detect(ctx context.Context, world schema.World, number string) (sub Subscriber, source string, ok bool) {
	if sub, err := s.lookup(ctx, world, number); err == nil && sub.Operator != "" {
		return sub, sourceLookup, true
	}
	if operator, circle, ok := numbering.Series(number); ok {
		return Subscriber{operator, circle}, sourceSeries, true
	}
	return Subscriber{}, "", false
}

// errUnclear says that nobody knows whose a number is, and one could not be asked.
var errUnclear = errors.New("whose the number is could not be looked up")

// lookup asks the providers of a world whose a number is, one after the other until
// one knows. Without an error a zero Subscriber is that none does.
func (s *Service) lookup(ctx context.Context, world schema.World, number string) (Subscriber, error) {
	limit, done := context.WithTimeout(ctx, detectMost)
	defer done()
	var unclear error
	for _, l := range s.lines {
		if l.World != world || l.Directory == nil {
			continue
		}
		if !l.Worth() {
			unclear = errUnclear
			continue
		}
		began := time.Now()
		sub, err := guardedDetect(limit, l.Directory, number)
		result := "known"
		switch {
		case errors.Is(err, ErrNoDetection):
			continue
		case err != nil:
			unclear = errUnclear
			result = resultOf(&word{err: err})
			s.Log.WarnContext(ctx, "a number could not be looked up", "provider", l.Name, "world", world.String(), "error", err)
		case sub.Operator == "":
			result = "unknown"
		}
		s.metrics.called(l, "detect", result, time.Since(began))
		if result == "known" {
			return sub, nil
		}
		if limit.Err() != nil {
			return Subscriber{}, errUnclear
		}
	}
	return Subscriber{}, unclear
}

// errPanic is what a call that panicked ended with.
var errPanic = errors.New("the provider's code panicked")

func guardedDetect(ctx context.Context, d Directory, number string) (sub Subscriber, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errPanic, p)
		}
	}()
	sub, err = d.Detect(ctx, number)
	sub.Operator, sub.Circle = clean(sub.Operator), clean(sub.Circle)
	return sub, err
}

// redetect looks once for the operator that a number belongs to, when the one that
// was detected says that it is not his. It takes a slot there, which is given back
// unless the recharge is redirected; nil when there is no other operator, and an error
// when that could not be found out.
func (s *Service) redetect(ctx context.Context, r *Record, own *line) (*onto, error) {
	sub, err := s.lookup(ctx, r.Owner.World, r.Number)
	if err != nil || sub.Operator == "" || sub.Operator == r.Operator {
		return nil, err
	}
	l, available := s.route(r.Owner.World, sub.Operator)
	if l == nil {
		return nil, nil
	}
	to := &onto{line: l, subscriber: sub}
	if available && (l == own || l.Take(r.Batch.Batch != "")) {
		to.lease = s.calls.Lease(l.Line)
	}
	return to, nil
}
