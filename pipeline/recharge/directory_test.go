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
	eachDesk(t, func(t *testing.T, d *desk) {
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
			if diff := cmp.Diff(want, names(read[schema.Operators](t, d.ask("GET", "/v1/operators"+query, ""), 200))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", query, diff)
			}
		}
		d.ask("GET", "/v1/operators?type=postpaid", "").WantError(t, "another type", 422, schema.UnsupportedType, "type")
		d.ask("GET", "/v1/operators?kind=dth", "").WantError(t, "another parameter", 400, schema.InvalidRequest, "kind")
		available := func() (all []string) {
			for _, o := range read[schema.Operators](t, d.live("GET", "/v1/operators", ""), 200).Data {
				if o.Available {
					all = append(all, o.Name)
				}
			}
			return all
		}
		if got := available(); !cmp.Equal(got, []string{"Airtel"}) { // whom the courier serves
			t.Errorf("available are %q", got)
		}
		d.courier.closed.Store(true)
		if got := available(); got != nil {
			t.Errorf("available are %q, and nobody is", got)
		}
	})
}

func TestOperatorsAreDetected(t *testing.T) {
	t.Parallel()
	eachDesk(t, func(t *testing.T, d *desk) {
		for mobile, want := range map[string]schema.Detected{
			"9000000001":      {Mobile: "9000000001", Operator: "Airtel", Circle: "Delhi", Detection: schema.Detection{Source: "lookup", Confidence: "high"}},
			"+91 90000-00008": {Mobile: "9000000008", Operator: "Jio", Circle: "Delhi", Detection: schema.Detection{Source: "lookup", Confidence: "high"}},
		} {
			want.Status = schema.Success
			got := read[schema.Detected](t, d.ask("GET", "/v1/operators/detect?mobile="+url.QueryEscape(mobile), ""), 200)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", mobile, diff)
			}
		}
		want := schema.Detected{Status: schema.Success, Mobile: "9810000001", Operator: "Airtel", Circle: "Delhi", Detection: schema.Detection{Source: "series", Confidence: "low"}}
		for _, away := range []bool{false, true} { // whoever does not know the number is as good as away
			d.courier.away.Store(away)
			got := read[schema.Detected](t, d.live("GET", "/v1/operators/detect?mobile=9810000001", ""), 200)
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
			d.ask("GET", "/v1/operators/detect?"+text, "").WantError(t, text, c.code.Status(), c.code, c.field)
		}
	})
}

// nobodys is a number of a series that the numbering plan gives to nobody.
const nobodys = "6999999999"

func TestANumberThatNobodyKnowsIsNotDetected(t *testing.T) {
	t.Parallel()
	eachDesk(t, func(t *testing.T, d *desk) {
		d.live("GET", "/v1/operators/detect?mobile="+nobodys, "").WantError(t, nobodys, 422, schema.OperatorNotDetected, "mobile")
		d.live("POST", "/v1/recharge", orderFor(nobodys, "a", "20")).WantError(t, "a recharge", 422, schema.OperatorNotDetected, "operator")
		if n := d.count(); n != 0 {
			t.Errorf("%d recharges were recorded", n)
		}
	})
}

func TestPlans(t *testing.T) {
	t.Parallel()
	eachDesk(t, func(t *testing.T, d *desk) {
		for query, want := range map[string][2]string{
			"operator=airtel": {"Airtel", ""}, "operator=Vodafone&circle=dl": {"Vi", "Delhi"}, "operator=tata+sky": {"Tata Play", ""},
		} {
			got := read[schema.Plans](t, d.ask("GET", "/v1/plans?"+query, ""), 200)
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
			d.ask("GET", "/v1/plans?"+query, "").WantError(t, query, c.code.Status(), c.code, c.field)
		}
		// The courier knows of none, and serves Airtel alone.
		if got := read[schema.Plans](t, d.live("GET", "/v1/plans?operator=Airtel", ""), 200); got.Data == nil || len(got.Data) != 0 {
			t.Errorf("got %+v", got)
		}
		d.live("GET", "/v1/plans?operator=Jio", "").WantError(t, "served by nobody", 404, schema.NoData, "operator")
		d.courier.away.Store(true)
		away := d.live("GET", "/v1/plans?operator=Airtel", "")
		away.WantError(t, "away", 503, schema.OperatorUnavailable, "")
		if strings.Contains(away.Text, "10.1.2.3") || away.Header.Get("Retry-After") == "" {
			t.Errorf("got %v %s", away.Header, away.Text)
		}
		for _, provider := range []string{"courier", "second"} {
			if got := d.figure("vayu_recharge_plans_failed_total", "provider", provider); got != 1 {
				t.Errorf("%v questions to %s have failed, want 1", got, provider)
			}
		}
	})
}
