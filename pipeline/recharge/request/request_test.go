package request

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"vayu/pipeline/recharge/numbering"
	"vayu/schema"
)

// bodyWith returns a valid body with other values for some fields; an empty value omits
// the field.
func bodyWith(fields ...string) string {
	values := map[string]string{"mobile": `"9876543210"`, "operator": `"auto"`, "amount": `199`, "type": `"prepaid"`, "ref_id": `"order-1"`}
	for i := 0; i < len(fields); i += 2 {
		values[fields[i]] = fields[i+1]
	}
	var parts []string
	for _, name := range []string{"mobile", "subscriber_id", "operator", "amount", "type", "ref_id", "note"} {
		if v := values[name]; v != "" {
			parts = append(parts, `"`+name+`":`+v)
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// quoted returns a JSON string of n repetitions.
func quoted(n int, text string) string { return `"` + strings.Repeat(text, n) + `"` }

// faultOf returns code, field and message of the fault of a body.
func faultOf(t *testing.T, body string) (code schema.Code, field, message string) {
	t.Helper()
	_, err := Parse([]byte(body))
	p, ok := errors.AsType[*schema.Problem](err)
	if !ok {
		t.Fatalf("%.200s: got %v, want a problem", body, err)
	}
	return p.Code, p.Field, p.Message
}

func TestBodyFaults(t *testing.T) {
	t.Parallel()
	const (
		missing, text = schema.InvalidRequest, schema.InvalidRequest
		devanagari    = `"९८७६५४३२१०"`
	)
	for _, c := range []struct {
		field, value string
		code         schema.Code
		says         string
	}{
		{"mobile", "", missing, "The mobile is missing."},
		{"mobile", "null", missing, "The mobile is missing."},
		{"mobile", "9876543210", text, "mobile must be a string."},
		{"mobile", "true", text, "mobile must be a string."},
		{"mobile", `["9876543210"]`, text, "mobile must be a string."},
		{"mobile", `""`, schema.InvalidRequest, "1 to 64 characters"},
		{"mobile", quoted(65, "9"), schema.InvalidRequest, "1 to 64 characters"},
		{"mobile", `"98765\u000043210"`, schema.InvalidRequest, "no control characters"},
		{"mobile", `"9876543210\n"`, schema.InvalidRequest, "no control characters"},
		{"mobile", `"98765\u009b43210"`, schema.InvalidRequest, "no control characters"},
		{"subscriber_id", `"1023456789"`, schema.ConflictingParameters, "requires the type dth"},
		{"operator", "", missing, "The operator is missing."},
		{"operator", "null", missing, "The operator is missing."},
		{"operator", "1", text, "operator must be a string."},
		{"operator", `{}`, text, "operator must be a string."},
		{"operator", `""`, schema.InvalidRequest, "1 to 64 characters"},
		{"operator", quoted(65, "a"), schema.InvalidRequest, "1 to 64 characters"},
		{"operator", quoted(64, "a"), schema.UnknownOperator, "Airtel, Jio, Vi, BSNL, MTNL or auto."},
		{"operator", `"Tata Play"`, schema.UnknownOperator, "of the type prepaid"},
		{"operator", `"एयरटेल"`, schema.UnknownOperator, ""},
		{"operator", `"Ａｉｒｔｅｌ"`, schema.UnknownOperator, ""},
		{"operator", `"🚀"`, schema.UnknownOperator, ""},
		{"operator", `"automatic"`, schema.UnknownOperator, ""},
		{"amount", "", missing, "The amount is missing."},
		{"amount", "null", missing, "The amount is missing."},
		{"amount", `"199"`, text, "amount must be a number."},
		{"amount", `"१९९"`, text, "amount must be a number."},
		{"amount", `true`, text, "amount must be a number."},
		{"amount", `[199]`, text, "amount must be a number."},
		{"amount", `{"rupees":199}`, text, "amount must be a number."},
		{"amount", "0", schema.InvalidAmount, "more than 0"},
		{"amount", "-0", schema.InvalidAmount, "more than 0"},
		{"amount", "0.00", schema.InvalidAmount, "more than 0"},
		{"amount", "-1", schema.InvalidAmount, "more than 0"},
		{"amount", "-199", schema.InvalidAmount, "more than 0"},
		{"amount", "0.001", schema.InvalidAmount, "two decimals"},
		{"amount", "199.999", schema.InvalidAmount, "two decimals"},
		{"amount", "1e-400", schema.InvalidAmount, "two decimals"},
		{"amount", "1e400", schema.InvalidAmount, "out of range"},
		{"amount", "-1e400", schema.InvalidAmount, "out of range"},
		{"amount", "9007199254740993", schema.InvalidAmount, "out of range"},
		{"amount", "92233720368547758.08", schema.InvalidAmount, "out of range"},
		{"amount", "1" + strings.Repeat("0", 5000), schema.InvalidAmount, "out of range"},
		{"amount", "0.01", schema.AmountNotSupported, "between ₹10 and ₹10,000"},
		{"amount", "9.99", schema.AmountNotSupported, "a recharge must be between ₹10 and ₹10,000"},
		{"amount", "10000.01", schema.AmountNotSupported, "between ₹10 and ₹10,000"},
		{"amount", "1e9", schema.AmountNotSupported, "between ₹10 and ₹10,000"},
		{"type", "", missing, "The type is missing."},
		{"type", "null", missing, "The type is missing."},
		{"type", "1", text, "type must be a string."},
		{"type", `""`, schema.InvalidRequest, "1 to 64 characters"},
		{"type", quoted(65, "p"), schema.InvalidRequest, "1 to 64 characters"},
		{"type", `"postpaid"`, schema.UnsupportedType, "prepaid or dth"},
		{"type", `"Prepaid"`, schema.UnsupportedType, "prepaid or dth"},
		{"type", `"ｐｒｅｐａｉｄ"`, schema.UnsupportedType, "prepaid or dth"},
		{"ref_id", "", missing, "The ref_id is missing."},
		{"ref_id", "null", missing, "The ref_id is missing."},
		{"ref_id", "1017", text, "ref_id must be a string."},
		{"ref_id", `["a"]`, text, "ref_id must be a string."},
		{"ref_id", `""`, schema.InvalidRequest, "1 to 255 characters"},
		{"ref_id", quoted(256, "r"), schema.InvalidRequest, "1 to 255 characters"},
		{"ref_id", quoted(256, "र"), schema.InvalidRequest, "1 to 255 characters"},
		{"ref_id", `"order\n1"`, schema.InvalidRequest, "no control characters"},
		{"ref_id", `"order\u00001"`, schema.InvalidRequest, "no control characters"},
		{"ref_id", `"order\u202e1"`, schema.InvalidRequest, "no control characters"},
	} {
		t.Run(fmt.Sprintf("%s=%.40s", c.field, c.value), func(t *testing.T) {
			code, field, message := faultOf(t, bodyWith(c.field, c.value))
			if code != c.code || field != c.field || !strings.Contains(message, c.says) {
				t.Errorf("got %s of %q: %s, want %s of %q: %s", code, field, message, c.code, c.field, c.says)
			}
		})
	}
	dth := bodyWith("type", `"dth"`, "subscriber_id", `"1023456789"`, "mobile", "", "operator", `"no such"`)
	if code, _, message := faultOf(t, dth); code != schema.UnknownOperator || strings.Contains(message, Auto) || !strings.Contains(message, "Tata Play") {
		t.Errorf("%s: got %s: %s", dth, code, message)
	}
	// An invalid number fails as a recharge. It is no fault of the body.
	for _, mobile := range []string{devanagari, `"９８７６５４３２１０"`, `"12345"`, `"📱"`, `"  "`, quoted(64, "9"), `"+1 202 555 0100"`, "\"\u202e0123456789\""} {
		r, err := Parse([]byte(bodyWith("mobile", mobile)))
		if err != nil || r.Valid || `"`+r.Number+`"` != mobile {
			t.Errorf("mobile %s: got %+v, %v", mobile, r, err)
		}
	}
}

func TestBodyMustBeAnObject(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]schema.Code{
		"null": schema.InvalidRequest, "[]": schema.InvalidRequest, `"x"`: schema.InvalidRequest, "": schema.InvalidRequest, "199": schema.InvalidRequest,
		"{": schema.InvalidJSON, bodyWith() + "{}": schema.InvalidJSON, strings.Replace(bodyWith(), "{", `{"amount":1,`, 1): schema.InvalidJSON,
		bodyWith("mobile", "\"\xff\""): schema.InvalidJSON, bodyWith("note", strings.Repeat("[", 40)+strings.Repeat("]", 40)): schema.InvalidJSON,
		bodyWith("amount", "NaN"): schema.InvalidJSON, bodyWith("amount", "0199"): schema.InvalidJSON, bodyWith("amount", "+199"): schema.InvalidJSON,
		bodyWith("amount", "१९९"): schema.InvalidJSON,
	} {
		if code, _, _ := faultOf(t, body); code != want {
			t.Errorf("%.80s: got %s, want %s", body, code, want)
		}
	}
}

func TestAllBodyFaultsAreListed(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{}`: "type invalid_request, mobile invalid_request, operator invalid_request, amount invalid_request, ref_id invalid_request",
		bodyWith("operator", `"no such"`, "amount", "0", "ref_id", "7"):                     "ref_id invalid_request, operator unknown_operator, amount invalid_amount",
		bodyWith("type", `"postpaid"`, "operator", `"no such"`, "amount", "1"):              "", // the operators and their amounts depend on the type
		bodyWith("type", `"dth"`, "mobile", "", "operator", "null", "amount", `"1"`):        "subscriber_id invalid_request, operator invalid_request, amount invalid_request",
		bodyWith("mobile", "1", "subscriber_id", "2", "operator", "3", "type", "4"):         "mobile invalid_request, subscriber_id invalid_request, type invalid_request, operator invalid_request",
		bodyWith("mobile", `"१"`, "operator", `"Jio"`, "amount", "10001", "ref_id", `"\t"`): "ref_id invalid_request, amount amount_not_supported",
	} {
		_, err := Parse([]byte(body))
		p, ok := errors.AsType[*schema.Problem](err)
		if !ok {
			t.Errorf("%s: got %v", body, err)
			continue
		}
		var got []string
		for _, d := range p.Details {
			got = append(got, d.Field+" "+string(d.Code))
		}
		if diff := cmp.Diff(want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
		if len(p.Details) > 0 && (p.Code != p.Details[0].Code || p.Field != p.Details[0].Field) {
			t.Errorf("%s: the first is %+v", body, p)
		}
	}
}

func TestValidBodies(t *testing.T) {
	t.Parallel()
	plain := Request{RefID: "order-1", Type: schema.Prepaid, Number: "9876543210", Valid: true, Amount: 199_00}
	dth := Request{RefID: "order-1", Type: schema.DTH, Number: "1023456789", Valid: true, RequestedOperator: "Tata Play", Amount: 199_00}
	with := func(r Request, change func(*Request)) Request { change(&r); return r }
	box := func(fields ...string) string {
		return bodyWith(append([]string{"type", `"dth"`, "operator", `"tata sky"`, "mobile", ""}, fields...)...)
	}
	for body, want := range map[string]Request{
		bodyWith():                                                       plain,
		bodyWith("operator", `" AUTO "`):                                 plain,
		bodyWith("note", `{"unknown":[1]}`):                              plain,
		bodyWith("subscriber_id", "null"):                                plain,
		bodyWith("mobile", `"+91 98765-43210"`):                          plain,
		bodyWith("mobile", `"09876543210"`):                              plain,
		bodyWith("operator", `"bharti AIRTEL"`):                          with(plain, func(r *Request) { r.RequestedOperator = "Airtel" }),
		bodyWith("operator", `"vodafone"`):                               with(plain, func(r *Request) { r.RequestedOperator = "Vi" }),
		bodyWith("amount", "10"):                                         with(plain, func(r *Request) { r.Amount = 10_00 }),
		bodyWith("amount", "1e4"):                                        with(plain, func(r *Request) { r.Amount = 10_000_00 }),
		bodyWith("amount", "199.50"):                                     with(plain, func(r *Request) { r.Amount = 199_50 }),
		bodyWith("amount", "19.99"):                                      with(plain, func(r *Request) { r.Amount = 19_99 }),
		bodyWith("amount", "1.9900e2"):                                   plain,
		bodyWith("ref_id", quoted(255, "र")):                             with(plain, func(r *Request) { r.RefID = strings.Repeat("र", 255) }),
		bodyWith("ref_id", `"👨‍👩‍👧 order"`):                              with(plain, func(r *Request) { r.RefID = "👨‍👩‍👧 order" }),
		box("subscriber_id", `"1023456789"`):                             dth,
		box("mobile", `"1023456789"`):                                    dth,
		box("mobile", `"10-2345 6789"`, "subscriber_id", `"1023456789"`): dth,
		box("subscriber_id", `"0023456789"`):                             with(dth, func(r *Request) { r.Number = "0023456789" }),
		box("subscriber_id", `"abc"`):                                    with(dth, func(r *Request) { r.Number, r.Valid = "abc", false }),
		box("mobile", `"१२३४५६७८"`):                                      with(dth, func(r *Request) { r.Number, r.Valid = "१२३४५६७८", false }),
		box("mobile", `"1023456789"`, "operator", `"auto"`):              with(dth, func(r *Request) { r.RequestedOperator = "" }),
	} {
		got, err := Parse([]byte(body))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", body, err, diff)
		}
	}
	for what, body := range map[string]string{
		"two ids":    box("mobile", `"1023456789"`, "subscriber_id", `"1023456780"`),
		"one is bad": box("mobile", `"1023456789"`, "subscriber_id", `"x"`),
	} {
		if code, field, _ := faultOf(t, body); code != schema.ConflictingParameters || field != "subscriber_id" {
			t.Errorf("%s: got %s of %s", what, code, field)
		}
	}
	if code, field, _ := faultOf(t, box()); code != schema.InvalidRequest || field != "subscriber_id" {
		t.Errorf("without an id: got %s of %s", code, field)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		bodyWith(), bodyWith("amount", "1e400"), bodyWith("mobile", `"९८७६५४३२१०"`), bodyWith("ref_id", quoted(256, "र")), `{}`, `[1]`,
		bodyWith("type", `"dth"`, "subscriber_id", `"1023456789"`, "operator", `"d2h"`), bodyWith("amount", "9.223372036854775807e18"),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := Parse(body)
		if err != nil {
			p, ok := errors.AsType[*schema.Problem](err)
			if !ok {
				t.Fatalf("%q: got %v, want a problem", body, err)
			}
			if status := p.Code.Status(); status != 400 && status != 422 {
				t.Errorf("%q: %v has the status %d, want 400 or 422", body, err, status)
			}
			if p.Message == "" {
				t.Errorf("%q: the problem %s has no message", body, p.Code)
			}
			return
		}
		_, known := numbering.Find(r.Type, r.RequestedOperator)
		switch {
		case !schema.IsRef(r.RefID), r.RequestedOperator != "" && !known, r.Type != schema.Prepaid && r.Type != schema.DTH:
			t.Fatalf("%q: got %+v", body, r)
		case r.Amount < minAmount || r.Amount > maxAmount:
			t.Fatalf("%q: the amount is %d", body, r.Amount)
		case r.Number == "" || utf8.RuneCountInString(r.Number) > longestText || strings.ContainsFunc(r.Number, unicode.IsControl):
			t.Fatalf("%q: the number is %q", body, r.Number)
		case r.Valid && strings.Trim(r.Number, "0123456789") != "":
			t.Fatalf("%q: the number %q is taken for one", body, r.Number)
		}
	})
}
