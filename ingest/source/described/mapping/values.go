package mapping

import (
	"slices"
	"strconv"

	"vayu/internal/config/section"
)

func texts(s *section.Section, key string) []string {
	var all []string
	for _, e := range s.List(key) {
		all = append(all, e.Text)
	}
	return all
}

func number(s *section.Section, key string) *float64 {
	text := s.Text(key)
	if text == "" {
		return nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		s.Faultf(key, "must be a number")
		return nil
	}
	return &n
}

// has reports whether a list contains a text. Numbers are compared by value: 999.9 equals "999.90".
func has(all []string, text string) bool {
	if len(all) == 0 {
		return false
	}
	if slices.Contains(all, text) {
		return true
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(all, func(one string) bool {
		m, err := strconv.ParseFloat(one, 64)
		return err == nil && m == n
	})
}
