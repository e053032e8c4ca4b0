package account

import (
	"maps"
	"slices"
	"strings"

	"vayu/schema"
)

// longestName is the largest number of characters of a name.
const longestName = 64

func checkName(f *schema.RequestErrors, field, name string) {
	strange := strings.ContainsFunc(name, func(r rune) bool {
		plain := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		return !plain && !strings.ContainsRune("._-", r)
	})
	if strange || name == "" || len(name) > longestName {
		f.Add(field, "The name of an account has 1 to 64 letters A–Z, a–z, digits, '.', '_' and '-'.")
	}
}

func checkPlan(f *schema.RequestErrors, field string, plans map[string]int64, plan string) {
	if _, ok := plans[plan]; ok {
		return
	}
	names := slices.Sorted(maps.Keys(plans))
	f.Add(field, "Unknown plan. The plans are "+strings.Join(names, ", ")+".")
}
