package reconcile

import (
	"regexp"
	"strings"

	"vayu/schema"
)

// groupedNumber is a number with commas between thousands, or between lakhs and crores:
// 1,234.50 and 12,34,567. Other commas are not removed, because they may be decimal commas.
var groupedNumber = regexp.MustCompile(`^[0-9]{1,3}(,[0-9]{2,3})*,[0-9]{3}(\.[0-9]*)?$`)

// currencyMarks are the possible prefixes of an amount.
var currencyMarks = []string{"₹", "rs.", "rs", "inr"}

// parseAmount parses rupees exactly. The amount of a refund must be positive, too, because the
// status of the line shows the direction.
func parseAmount(text string) (schema.Paise, error) {
	text = strings.TrimSpace(text)
	for _, mark := range currencyMarks {
		if len(text) > len(mark) && strings.EqualFold(text[:len(mark)], mark) {
			text = strings.TrimSpace(text[len(mark):])
			break
		}
	}
	if groupedNumber.MatchString(text) {
		text = strings.ReplaceAll(text, ",", "")
	}
	amount, err := schema.ParsePaise(text)
	if err == nil && amount <= 0 {
		err = schema.ErrAmountRange
	}
	return amount, err
}
