package recharge

import (
	"cmp"
	"context"
	"fmt"

	"vayu/internal/httpapi"
	"vayu/pipeline/recharge/numbering"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/recharge/request"
	"vayu/schema"
)

// operators answers GET /v1/operators.
func (s *Service) operators(c *httpapi.Call) (httpapi.Response, error) {
	wanted := schema.RechargeType(c.Params["type"])
	if wanted != "" && wanted != schema.Prepaid && wanted != schema.DTH {
		return httpapi.Response{}, schema.NewProblem(schema.UnsupportedType, "type", request.NoSuchType)
	}
	reply := schema.Operators{Status: schema.Success, Data: []schema.OperatorEntry{}}
	for _, o := range numbering.Operators() {
		if wanted == "" || o.Type == wanted {
			reply.Data = append(reply.Data, schema.OperatorEntry{
				Name: o.Name, Type: o.Type, Aliases: o.Aliases, MinAmount: o.Min, MaxAmount: o.Max, Available: s.available(c.World, o.Name),
			})
		}
	}
	return httpapi.Response{Value: reply}, nil
}

// available reports whether an available connection serves an operator.
func (s *Service) available(w schema.World, operator string) bool {
	_, ok := s.route(w, operator)
	return ok
}

// detectOperator answers GET /v1/operators/detect.
func (s *Service) detectOperator(c *httpapi.Call) (httpapi.Response, error) {
	text, given := c.Params["mobile"]
	if !given {
		return httpapi.Response{}, schema.NewProblem(schema.InvalidRequest, "mobile", "The parameter mobile is missing.")
	}
	mobile, ok := numbering.Mobile(text)
	if !ok {
		return httpapi.Response{}, schema.NewProblem(schema.InvalidNumber, "mobile", record.InvalidNumberTexts[schema.Prepaid])
	}
	subscriber, source, ok := s.detect(c.Context(), c.World, mobile)
	if !ok {
		return httpapi.Response{}, schema.NewProblem(schema.OperatorNotDetected, "mobile", "The operator of this number could not be detected.")
	}
	return httpapi.Response{Value: schema.Detected{
		Status: schema.Success, Mobile: mobile, Operator: subscriber.Operator, Circle: subscriber.Circle, Detection: *record.DetectionOf(source),
	}}, nil
}

// plans answers GET /v1/plans.
func (s *Service) plans(c *httpapi.Call) (httpapi.Response, error) {
	operator, circle, err := request.OperatorAndCircle(c.Params)
	if err != nil {
		return httpapi.Response{}, err
	}
	all, err := s.plansOf(c.Context(), c.World, operator, circle)
	if err != nil {
		return httpapi.Response{}, err
	}
	if all == nil {
		all = []schema.Plan{}
	}
	return httpapi.Response{Value: schema.Plans{Status: schema.Success, Operator: operator, Circle: circle, Data: all}}, nil
}

func (s *Service) plansOf(ctx context.Context, w schema.World, operator, circle string) ([]schema.Plan, error) {
	var failed error
	for _, c := range s.connections {
		if c.World != w || c.Directory == nil || !c.Serves(operator) {
			continue
		}
		all, err := plansFrom(ctx, c, operator, circle)
		if err == nil {
			return all, nil
		}
		s.metrics.plansFailed.WithLabelValues(c.Name).Inc()
		failed = cmp.Or(failed, err)
	}
	if failed != nil {
		problem := schema.NewProblem(schema.OperatorUnavailable, "", "The plans of this operator are not available at the moment. Retry later.")
		return nil, fmt.Errorf("%w: fetching plans: %w", problem, failed)
	}
	return nil, schema.NewProblem(schema.NoData, "operator", "No provider has plans of this operator.")
}

func plansFrom(ctx context.Context, c *order.Connection, operator, circle string) ([]schema.Plan, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	return c.Directory.Plans(ctx, operator, circle)
}
