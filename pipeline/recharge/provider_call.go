package recharge

import (
	"context"
	"fmt"

	"vayu/internal/failpoint"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/settle"
	"vayu/pipeline/transaction"
)

func (s *Service) callProvider(ctx context.Context, j *job) settle.Result {
	res := settle.Result{
		Call: j.call, Resent: j.resent, Refused: j.refused, Reference: j.rec.Reference, CalledAt: s.Now(), ResendAfter: j.ResendAfter, By: actor,
	}
	if j.call == settle.CallSubmit {
		failpoint.Point(failpoint.RechargeSending)
	}
	res.Err = s.Core.Call(ctx, &j.Link, j.call.String(), j.rec.ID, func(ctx context.Context) (outcome string, err error) {
		res.Answer, err = s.callOperator(ctx, j)
		if err == nil && !res.Outcome.IsDefined() {
			err = fmt.Errorf("%w: %d", transaction.ErrOutcome, res.Outcome)
		}
		return res.Outcome.String(), err
	})
	failpoint.Point(answeredFailpoints[j.call])
	return res
}

// actor stands for all providers: as the author of call results in the audit log, and as their name in traces.
const actor = "operator"

// answeredFailpoints maps each kind of call to the failpoint after it. At a failpoint, a test kills the process.
var answeredFailpoints = [...]string{settle.CallSubmit: failpoint.RechargeAnswered, settle.CallEnquire: failpoint.RechargeEnquired, settle.CallReverse: failpoint.RefundAnswered}

func (s *Service) callOperator(ctx context.Context, j *job) (order.Answer, error) {
	o := order.Order{
		Reference: j.rec.Reference, Type: j.rec.Type, Number: j.rec.Number, Operator: j.rec.Operator, Circle: j.rec.Circle, Amount: j.rec.Amount,
		CreatedAt: j.rec.CreatedAt, ProviderRef: j.rec.ProviderRef,
	}
	switch {
	case j.call == settle.CallSubmit:
		return j.Operator.Submit(ctx, o)
	case j.call == settle.CallEnquire:
		return j.Operator.Enquire(ctx, o)
	case j.Reverser == nil: // the configuration changed since the refund was requested
		return order.Answer{Outcome: order.Failed}, nil
	default:
		return j.Reverser.Reverse(ctx, o)
	}
}
