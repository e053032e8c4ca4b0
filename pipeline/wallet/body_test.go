package wallet

import (
	"errors"
	"net/http/httptest"
	"slices"
	"testing"

	"vayu/internal/httpapi"
	"vayu/schema"
)

// FuzzRequest checks that any body is refused with a code of its endpoint, or is a valid
// payment.
func FuzzRequest(f *testing.F) {
	for _, text := range []string{
		`{"amount":500,"method":"upi","ref_id":"topup-42"}`, `{"amount":1e400}`, `{"amount":"5"}`, `{"amount":0.001,"ref_id":"a\nb"}`,
		`{"amount":5,"method":null,"ref_id":null}`, `{"amount":5,"method":"gold"}`, `[]`, ``, `{"amount":-5e-1}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := requestOf(&httpapi.Call{Request: httptest.NewRequest("POST", topupPath, nil), Body: []byte(text)})
		if err != nil {
			p, ok := errors.AsType[*schema.Problem](err)
			if !ok {
				t.Fatalf("%q: got %v, want a problem", text, err)
			}
			if want := []schema.Code{schema.InvalidJSON, schema.InvalidRequest, schema.InvalidAmount}; !slices.Contains(want, p.Code) {
				t.Fatalf("%q: code = %s, want one of %s", text, p.Code, want)
			}
			return
		}
		switch {
		case got.amount < leastTopup:
			t.Fatalf("%q: amount = %v, want at least %v", text, got.amount, leastTopup)
		case got.amount > mostTopup:
			t.Fatalf("%q: amount = %v, want at most %v", text, got.amount, mostTopup)
		case !slices.Contains(schema.PaymentMethods, got.method):
			t.Fatalf("%q: schema.PaymentMethods = %v, want %v in it", text, schema.PaymentMethods, got.method)
		case got.ref != "" && !schema.IsRef(got.ref):
			t.Fatalf("%q was taken as %+v", text, got)
		}
	})
}
