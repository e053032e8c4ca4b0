package recharge

import "vayu/pipeline/recharge/settle"

// observeResult counts and logs what a provider result has changed.
func (s *Service) observeResult(out *settle.Effect, res *settle.Result) {
	r := &out.Record
	switch out.Transition {
	case settle.Succeed, settle.Fail, settle.Refund:
		s.metrics.Finished(&r.Base, r.Status())
	case settle.Redirect:
		s.metrics.redirect.Inc()
		s.Log.Info("a recharge was redirected to another operator", "transaction", r.ID, "operator", r.Operator, "provider", r.Provider)
	case settle.RefuseRefund:
		s.Log.Warn("a provider refused a refund", "transaction", r.ID, "provider", r.Provider)
	case settle.LateSuccess, settle.LateFailure:
		s.metrics.alarms.WithLabelValues(settle.AlarmOf(out.Transition)).Inc()
		s.Log.Error("a provider contradicts a final state; the state is unchanged and needs an investigation",
			"alarm", settle.AlarmOf(out.Transition), "transaction", r.ID, "state", string(r.State), "said", res.Outcome.String(), "provider", r.Provider, "reference", res.Reference, "by", res.By)
	}
}
