package request

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"vayu/pipeline/recharge/numbering"
	"vayu/schema"
)

// ListParams are the query parameters that only the list of recharges has.
var ListParams = []string{"mobile", "type", "amount_min", "amount_max"}

// masked matches a masked number, as replies show it.
var masked = regexp.MustCompile("^[Xx]{4,8}[0-9]{4}$")

// Narrow reads the query parameters that only the list of recharges has (ListParams). It returns the number to select,
// in digits or masked ("" for all), and further conditions in SQL.
func Narrow(faults *schema.RequestErrors, params map[string]string) (number, where string) {
	if text, given := params["mobile"]; masked.MatchString(text) {
		number = strings.ToUpper(text)
	} else if given {
		var valid bool
		if number, valid = numbering.Mobile(text); !valid || params["type"] == string(schema.DTH) {
			number, valid = numbering.SubscriberID(text)
		}
		if !valid {
			faults.Add("mobile", "The mobile must be an Indian mobile number, a DTH subscriber's id of 8 to 12 digits, or a masked number such as XXXXXX3210.")
		}
	}
	switch t := schema.RechargeType(params["type"]); {
	case t == schema.Prepaid || t == schema.DTH:
		where += " AND type = '" + string(t) + "'"
	case params["type"] != "":
		faults.Add("type", NoSuchType)
	}
	least, some := rupees(faults, params, "amount_min")
	if some {
		where += " AND amount >= " + strconv.FormatInt(int64(least), 10)
	}
	most, limited := rupees(faults, params, "amount_max")
	if limited {
		where += " AND amount <= " + strconv.FormatInt(int64(most), 10)
	}
	if some && limited && least > most {
		faults.Add("amount_min", "The amount_min is more than amount_max.")
	}
	return number, where
}

// rupees reads a parameter with an amount in rupees. It returns false if the parameter is missing or invalid.
func rupees(faults *schema.RequestErrors, params map[string]string, name string) (schema.Paise, bool) {
	text, given := params[name]
	if !given {
		return 0, false
	}
	paise, err := schema.ParsePaise(text)
	switch {
	case errors.Is(err, schema.ErrAmountPrecision):
		faults.Add(name, "The "+name+" can have at most two decimals.")
	case err != nil || paise < 0:
		faults.Add(name, "The "+name+" must be an amount in rupees, such as 199 or 350.50.")
	default:
		return paise, true
	}
	return 0, false
}
