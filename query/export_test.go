package query

import "time"

// CheckQuestion parses a query of GET /v1/aqi.
func CheckQuestion(raw string, now time.Time) error {
	_, err := parse(raw, now)
	return err
}
