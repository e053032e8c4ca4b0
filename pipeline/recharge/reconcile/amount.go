package reconcile

import (
	"regexp"
	"strings"

	"vayu/schema"
)

// grouped is a number with commas between thousands, or between lakhs and crores:
// 1,234.50 and 12,34,567. A comma anywhere else may be somebody's decimal point.
var grouped = regexp.MustCompile(`^[0-9]{1,3}(,[0-9]{2,3})*,[0-9]{3}(\.[0-9]*)?$`)

// marks are what may stand before an amount.
var marks = []string{"₹", "rs.", "rs", "inr"}

// parseAmount reads rupees, exactly. It is never negative: what a refund is worth
// is written as what it was, and its status says the rest.
func parseAmount(text string) (schema.Paise, error) {
	text = strings.TrimSpace(text)
	for _, mark := range marks {
		if len(text) > len(mark) && strings.EqualFold(text[:len(mark)], mark) {
			text = strings.TrimSpace(text[len(mark):])
			break
		}
	}
	if grouped.MatchString(text) {
		text = strings.ReplaceAll(text, ",", "")
	}
	amount, err := schema.ParsePaise(text)
	if err == nil && amount <= 0 {
		err = schema.ErrAmountRange
	}
	return amount, err
}
