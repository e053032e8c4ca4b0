package wallet

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"vayu/internal/httpapi"
	"vayu/schema"
)

// The smallest and the largest amount of one payment.
const (
	leastTopup schema.Paise = 1_00
	mostTopup  schema.Paise = 10_00_000_00
)

// requestOf reads and validates the body of POST /v1/wallet/topups, and reports every fault. It
// sorts the faults by their HTTP status: 400 precedes 422.
func requestOf(c *httpapi.Call) (request, error) {
	wanted, err := httpapi.Decode[struct {
		Amount jsontext.Value        `json:"amount"`
		Method *schema.PaymentMethod `json:"method"`
		RefID  *string               `json:"ref_id"`
	}](c)
	if err != nil {
		return request{}, err
	}
	r := request{owner: ownerOf(c), method: schema.UPI}
	var f schema.RequestErrors
	r.amount = amountOf(&f, wanted.Amount)
	if wanted.Method != nil {
		if r.method = *wanted.Method; !slices.Contains(schema.PaymentMethods, r.method) {
			f.Add("method", "The methods are "+methods()+".")
		}
	}
	if wanted.RefID != nil {
		if r.ref = *wanted.RefID; !schema.IsRef(r.ref) {
			f.Add("ref_id", "The ref_id has 1 to 255 printable characters.")
		}
	}
	slices.SortStableFunc(f, func(a, b schema.ProblemDetail) int { return cmp.Compare(a.Code.Status(), b.Code.Status()) })
	return r, f.Problem()
}

func methods() string {
	var names []string
	for _, m := range schema.PaymentMethods {
		names = append(names, string(m))
	}
	return strings.Join(names, ", ")
}

// amountOf reads an amount from the digits of a JSON number. A float could round the amount.
func amountOf(f *schema.RequestErrors, v jsontext.Value) schema.Paise {
	const field = "amount"
	switch {
	case len(v) == 0 || v.Kind() == jsontext.KindNull:
		f.Add(field, "The amount is missing.")
		return 0
	case v.Kind() != jsontext.KindNumber:
		f.Add(field, "amount must be a number.")
		return 0
	}
	amount, err := ParseAmount(string(v))
	if p, ok := errors.AsType[*schema.Problem](err); ok {
		f.AddAs(p.Code, field, p.Message)
	}
	return amount
}

// ParseAmount parses the amount of a payment in rupees, and checks that it is within the limits.
// The error is a *schema.Problem.
func ParseAmount(text string) (schema.Paise, error) {
	amount, err := schema.ParsePaise(text)
	switch {
	case errors.Is(err, schema.ErrAmountForm):
		return 0, schema.NewProblem(schema.InvalidAmount, "amount", "The amount is no number.")
	case errors.Is(err, schema.ErrAmountPrecision):
		return 0, schema.NewProblem(schema.InvalidAmount, "amount", "An amount has two decimals at most.")
	case err != nil || amount < leastTopup || amount > mostTopup:
		return 0, schema.NewProblem(schema.InvalidAmount, "amount",
			"A payment lies between "+leastTopup.Rupees()+" and "+mostTopup.Rupees()+".")
	}
	return amount, nil
}
