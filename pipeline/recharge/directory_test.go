package recharge_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/schema"
)

func TestOperatorsAreListed(t *testing.T) {
	t.Parallel()
	eachAPIFixture(t, func(t *testing.T, d *apiFixture) {
		names := func(r schema.Operators) (all []string) {
			for _, o := range r.Data {
				all = append(all, o.Name)
				if o.MinAmount != 10_00 || o.MaxAmount != 10_000_00 || len(o.Aliases) == 0 {
					t.Errorf("got %+v", o)
				}
			}
			return all
		}
		mobile := []string{"Airtel", "Jio", "Vi", "BSNL", "MTNL"}
		dth := []string{"Tata Play", "Dish TV", "d2h", "Sun Direct", "Airtel Digital TV"}
		for query, want := range map[string][]string{"": append(append([]string{}, mobile...), dth...), "?type=prepaid": mobile, "?type=dth": dth} {
			if diff := cmp.Diff(want, names(read[schema.Operators](t, d.sandboxRequest("GET", "/v1/operators"+query, ""), 200))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", query, diff)
			}
		}
		d.sandboxRequest("GET", "/v1/operators?type=postpaid", "").WantError(t, "another type", 422, schema.UnsupportedType, "type")
		d.sandboxRequest("GET", "/v1/operators?kind=dth", "").WantError(t, "another parameter", 400, schema.InvalidRequest, "kind")
		available := func() (all []string) {
			for _, o := range read[schema.Operators](t, d.liveRequest("GET", "/v1/operators", ""), 200).Data {
				if o.Available {
					all = append(all, o.Name)
				}
			}
			return all
		}
		if got := available(); !cmp.Equal(got, []string{"Airtel"}) { // whom the pending serves
			t.Errorf("available are %q", got)
		}
		d.pending.closed.Store(true)
		if got := available(); got != nil {
			t.Errorf("available are %q, want none", got)
		}
	})
}

func TestOperatorsAreDetected(t *testing.T) {
	t.Parallel()
	eachAPIFixture(t, func(t *testing.T, d *apiFixture) {
		for mobile, want := range map[string]schema.Detected{
			"9000000001":      {Mobile: "9000000001", Operator: "Airtel", Circle: "Delhi", Detection: schema.Detection{Source: "lookup", Confidence: "high"}},
			"+91 90000-00008": {Mobile: "9000000008", Operator: "Jio", Circle: "Delhi", Detection: schema.Detection{Source: "lookup", Confidence: "high"}},
		} {
			want.Status = schema.Success
			got := read[schema.Detected](t, d.sandboxRequest("GET", "/v1/operators/detect?mobile="+url.QueryEscape(mobile), ""), 200)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", mobile, diff)
			}
		}
		want := schema.Detected{Status: schema.Success, Mobile: "9810000001", Operator: "Airtel", Circle: "Delhi", Detection: schema.Detection{Source: "series", Confidence: "low"}}
		for _, away := range []bool{false, true} { // a provider that does not know the number counts as unavailable
			d.pending.away.Store(away)
			got := read[schema.Detected](t, d.liveRequest("GET", "/v1/operators/detect?mobile=9810000001", ""), 200)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("away: %v (-want +got):\n%s", away, diff)
			}
		}
		for text, c := range map[string]struct {
			code  schema.Code
			field string
		}{
			"mobile=12345": {schema.InvalidNumber, "mobile"}, "mobile=" + url.QueryEscape("९८७६५४३२१०"): {schema.InvalidNumber, "mobile"},
			"mobile=%00": {schema.InvalidNumber, "mobile"}, "": {schema.InvalidRequest, "mobile"}, "mobile=": {schema.InvalidRequest, "mobile"},
			"number=9810000001": {schema.InvalidRequest, "number"},
		} {
			d.sandboxRequest("GET", "/v1/operators/detect?"+text, "").WantError(t, text, c.code.Status(), c.code, c.field)
		}
	})
}

// unassigned is a number of an unassigned series.
const unassigned = "6999999999"

func TestUnknownNumberIsNotDetected(t *testing.T) {
	t.Parallel()
	eachAPIFixture(t, func(t *testing.T, d *apiFixture) {
		d.liveRequest("GET", "/v1/operators/detect?mobile="+unassigned, "").WantError(t, unassigned, 422, schema.OperatorNotDetected, "mobile")
		d.liveRequest("POST", "/v1/recharge", orderFor(unassigned, "a", "20")).WantError(t, "a recharge", 422, schema.OperatorNotDetected, "operator")
		if n := d.count(); n != 0 {
			t.Errorf("%d recharges were recorded", n)
		}
	})
}

func TestPlans(t *testing.T) {
	t.Parallel()
	eachAPIFixture(t, func(t *testing.T, d *apiFixture) {
		for query, want := range map[string][2]string{
			"operator=airtel": {"Airtel", ""}, "operator=Vodafone&circle=dl": {"Vi", "Delhi"}, "operator=tata+sky": {"Tata Play", ""},
		} {
			got := read[schema.Plans](t, d.sandboxRequest("GET", "/v1/plans?"+query, ""), 200)
			if [2]string{got.Operator, got.Circle} != want || len(got.Data) == 0 || got.Data[0].Amount < 10_00 {
				t.Errorf("%s: got %+v", query, got)
			}
		}
		for query, c := range map[string]struct {
			code  schema.Code
			field string
		}{
			"": {schema.InvalidRequest, "operator"}, "operator=Vodaphone": {schema.UnknownOperator, "operator"}, "operator=Jio&circle=Lanka": {schema.InvalidRequest, "circle"},
			"operator=nobody&circle=Lanka": {schema.InvalidRequest, "circle"}, "operator=%00": {schema.UnknownOperator, "operator"}, "operator=Jio&type=dth": {schema.InvalidRequest, "type"},
		} {
			d.sandboxRequest("GET", "/v1/plans?"+query, "").WantError(t, query, c.code.Status(), c.code, c.field)
		}
		// The pending provider has no plans, and serves Airtel only.
		if got := read[schema.Plans](t, d.liveRequest("GET", "/v1/plans?operator=Airtel", ""), 200); got.Data == nil || len(got.Data) != 0 {
			t.Errorf("got %+v", got)
		}
		d.liveRequest("GET", "/v1/plans?operator=Jio", "").WantError(t, "unserved operator", 404, schema.NoData, "operator")
		d.pending.away.Store(true)
		away := d.liveRequest("GET", "/v1/plans?operator=Airtel", "")
		away.WantError(t, "away", 503, schema.OperatorUnavailable, "")
		if strings.Contains(away.Text, "10.1.2.3") || away.Header.Get("Retry-After") == "" {
			t.Errorf("got %v %s", away.Header, away.Text)
		}
		for _, provider := range []string{"pending", "second"} {
			if got := d.metric("vayu_recharge_plans_failed_total", "provider", provider); got != 1 {
				t.Errorf("%v questions to %s have failed, want 1", got, provider)
			}
		}
	})
}
